// The clients of contract/conformance in other languages, as they are or broken in one place.
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { root } from "../project.js";

const execute = promisify(execFile);
const data = path.join(root, "contract/conformance");
const cache = path.join(root, "node_modules/.cache");
const venv = path.join(cache, "conformance-python");
const jars = path.join(cache, "conformance-java");

/** A place of a client's source, and what stands there instead in a broken one. */
export type Change = readonly [file: string, from: string, to: string];

export type Language = "python" | "go" | "java" | "php";

/** Python with what the client needs; undefined, and why is said, where it cannot be had. */
export async function findPython(): Promise<string | undefined> {
  const python = path.join(venv, "bin/python");
  const found = await made("Python", "Python 3.9 with venv and httpx", venv, python, async () => {
    await execute("python3", ["-m", "venv", venv]);
    const requirements = path.join(data, "python/requirements.txt");
    await execute(python, ["-m", "pip", "install", "--quiet", "--requirement", requirements]);
  });
  return found ? python : undefined;
}

/** Whether there is Go; why not is said. */
export async function findGo(): Promise<boolean> {
  return await made("Go", "go", cache, undefined, () => execute("go", ["version"]));
}

/** Whether there is a JDK with the library that the client needs; why not is said. */
export async function findJava(): Promise<boolean> {
  const wanted = readFileSync(path.join(data, "java/pom.xml"), "utf8");
  const mark = path.join(jars, "pom.xml");
  if (existsSync(mark) && readFileSync(mark, "utf8") !== wanted) rmSync(jars, { recursive: true });
  return await made("Java", "JDK 17 with Maven and Jackson", jars, mark, async () => {
    await execute("javac", ["--release", "17", "-version"]);
    const pom = path.join(data, "java/pom.xml");
    await execute("mvn", ["-q", "-f", pom, "dependency:copy-dependencies", `-DoutputDirectory=${jars}`]);
    writeFileSync(mark, wanted);
  });
}

/** Whether there is a PHP with the extensions that the client needs; why not is said. */
export async function findPhp(): Promise<boolean> {
  const check =
    "exit(PHP_VERSION_ID >= 80200 && extension_loaded('curl') && extension_loaded('pcntl') ? 0 : 1);";
  return await made("PHP", "PHP 8.2 with curl and pcntl", cache, undefined, () =>
    execute("php", ["-r", check]),
  );
}

async function made(
  language: string,
  needs: string,
  folder: string,
  proof: string | undefined,
  make: () => Promise<unknown>,
): Promise<boolean> {
  try {
    if (proof && existsSync(proof)) return true;
    mkdirSync(path.dirname(folder), { recursive: true });
    await make();
    return true;
  } catch (error) {
    if (proof) rmSync(folder, { recursive: true, force: true });
    console.log(`The ${language} client is skipped: ${needs} cannot be had here. ${error}`);
    return false;
  }
}

type Command = (folder: string, args: readonly string[]) => Promise<{ readonly stderr: string }>;

// Programs that run for seconds are not worth a second compiler, nor threads that collect garbage.
const quick = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

const commands: Readonly<Record<Language, Command>> = {
  python: (folder, args) =>
    execute(path.join(venv, "bin/python"), ["-B", path.join(folder, "certify.py"), ...args]),
  go: (cwd, [runner = ""]) => execute("go", ["run", ".", runner], { cwd }),
  php: (folder, args) => execute("php", [path.join(folder, "certify.php"), ...args]),
  java: async (cwd, args) => {
    const classes = mkdtempSync(path.join(tmpdir(), "tunerank-classes-"));
    const libraries = path.join(jars, "*");
    const sources = readdirSync(cwd).filter((name) => name.endsWith(".java"));
    try {
      const options = [...quick.map((option) => `-J${option}`), "--release", "17", "-cp", libraries];
      await execute("javac", [...options, "-d", classes, ...sources], { cwd });
      const paths = `${classes}${path.delimiter}${libraries}`;
      return await execute("java", [...quick, "-cp", paths, "Certify", ...args], { cwd });
    } finally {
      rmSync(classes, { recursive: true, force: true });
    }
  },
};

/** How a client is run. */
interface Way {
  /** What is broken in it: a copy is run. */
  readonly changes?: readonly Change[];
  /** How many rows it works on at once. */
  readonly workers?: number;
  /** The project whose client it is. @default this one */
  readonly project?: string;
}

/** Runs a client against a runner, and returns what it said in the standard error. */
export async function certifyClient(
  language: Language,
  runner: string,
  { changes, workers, project = root }: Way = {},
): Promise<string> {
  const own = path.join(project, "contract/conformance");
  const folder = changes ? mkdtempSync(path.join(tmpdir(), "tunerank-broken-")) : own;
  try {
    if (changes) cpSync(own, folder, { recursive: true });
    for (const change of changes ?? []) breakFile(path.join(folder, language), change);
    const args = [runner, ...(workers ? [`${workers}`] : [])];
    return (await commands[language](path.join(folder, language), args)).stderr;
  } finally {
    if (changes) rmSync(folder, { recursive: true, force: true });
  }
}

function breakFile(folder: string, [file, from, to]: Change): void {
  const parts = readFileSync(path.join(folder, file), "utf8").split(from);
  if (parts.length !== 2) throw new Error(`${file} has not one place with ${from}`);
  writeFileSync(path.join(folder, file), parts.join(to));
}
