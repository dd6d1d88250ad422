import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Tool } from "../check/tool.js";
import { cache, run, versions } from "../check/toolchains.js";
import { checkPython, programs, runPython } from "./python.js";
import { cargoBuild, runBuilt } from "./rust.js";
import { compileTypeScript, runCompiled } from "./typescript.js";

const version = versions["openapi-generator"];
const plugin = `org.apache.maven.plugins:maven-dependency-plugin:${versions["maven-dependency-plugin"]}`;
const artifact = `org.openapitools:openapi-generator-cli:${version}`;
const get = `mvn ${plugin}:copy -Dartifact=${artifact} -Dmdep.stripVersion=true -DoutputDirectory=.`;
const jars = join(cache, "jars", version);
const jar = join(jars, "openapi-generator-cli.jar");

/** What is the same for every generator of openapi-generator: the command of its manual, without an option. */
export function openapiGenerator(
  generator: string,
): Pick<Tool, "name" | "version" | "documents" | "command" | "get" | "program"> {
  return {
    name: `openapi-generator ${generator}`,
    version,
    documents: ["openapi-client.json", "openapi-client-3.0.json"],
    command: `java -jar openapi-generator-cli.jar generate -i openapi-client.json -g ${generator} -o client`,
    get,
    async program() {
      await fetchJar();
      return ["java", "-jar", jar];
    },
  };
}

async function fetchJar(): Promise<void> {
  if (existsSync(jar)) return;
  await mkdir(jars, { recursive: true });
  const [command = "", ...args] = get.split(" ");
  await run(command, args, { cwd: jars });
}

/** Compiles the Maven project in a folder. */
export async function mavenCompile(folder: string): Promise<void> {
  const goals = ["compile", `${plugin}:build-classpath`, "-Dmdep.outputFile=classpath.txt"];
  await run("mvn", ["--batch-mode", "--quiet", ...goals], { cwd: folder });
}

/** Runs a class that Maven compiled. */
export async function runClass(
  folder: string,
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const libraries = await readFile(join(folder, "classpath.txt"), "utf8");
  const classes = [join(folder, "target/classes"), libraries.trim()].join(delimiter);
  return run("java", ["-cp", classes, name], { env });
}

export const openapiGeneratorJava: Tool = {
  ...openapiGenerator("java"),
  language: "Java",
  needs: ["Java 11 or newer", "Maven"],
  recipe: { page: "guide/languages.md", program: "Rank.java", savedAs: "Rank.java", bin: async () => jars },
  async compile({ folder }) {
    await cp(join(folder, "Call.java"), join(folder, "client/src/main/java/Call.java"));
    await mavenCompile(join(folder, "client"));
  },
  call: ({ folder }, env) => runClass(join(folder, "client"), "Call", env),
};

export const openapiGeneratorKotlin: Tool = {
  ...openapiGenerator("kotlin"),
  language: "Kotlin",
  needs: ["Java 11 or newer", "Maven"],
  note: "where its Gradle cannot be downloaded, compiled with Maven and the libraries that its build.gradle names",
  builds: { had: ["sh", "gradlew", "--version"], build: ["sh", "gradlew", "assemble"] },
  compile: ({ folder }) => mavenCompile(folder),
  call: ({ folder }, env) => runClass(folder, "CallKt", env),
};

export const openapiGeneratorGo: Tool = {
  ...openapiGenerator("go"),
  language: "Go",
  needs: ["Java 11 or newer", "Maven", "Go"],
  async compile({ folder }) {
    const client = join(folder, "client");
    await cp(join(folder, "main.go"), join(client, "call/main.go"));
    await run("go", ["mod", "tidy"], { cwd: client });
    await run("go", ["vet", ".", "./call"], { cwd: client });
    await run("go", ["build", "-o", join(folder, "caller"), "./call"], { cwd: client });
  },
  call: ({ folder }, env) => run(join(folder, "caller"), [], { env }),
};

const venv = {
  name: "openapi-generator",
  packages: ["urllib3", "python-dateutil", "pydantic", "mypy"],
} as const;

export const openapiGeneratorPython: Tool = {
  ...openapiGenerator("python"),
  language: "Python",
  needs: ["Java 11 or newer", "Maven", "Python 3.11 or newer"],
  recipe: {
    page: "recipes/python.md",
    program: "rank.py",
    savedAs: "rank.py",
    bin: () => programs(venv),
  },
  compile: ({ folder }) => checkPython(venv, join(folder, "client"), join(folder, "call.py")),
  call: ({ folder }, env) => runPython(venv, join(folder, "client"), join(folder, "call.py"), env),
};

export const openapiGeneratorRust: Tool = {
  ...openapiGenerator("rust"),
  language: "Rust",
  needs: ["Java 11 or newer", "Maven", "Cargo"],
  compile: ({ folder }) => cargoBuild(folder),
  call: (_, env) => runBuilt("call-openapi-generator", env),
};

export const openapiGeneratorPhp: Tool = {
  ...openapiGenerator("php"),
  language: "PHP",
  needs: ["Java 11 or newer", "Maven", "PHP 8.1 with Guzzle 7"],
  async compile({ folder }) {
    const library = join(folder, "client/lib");
    const files = await readdir(library, { recursive: true });
    for (const file of files.filter((each) => each.endsWith(".php"))) {
      await run("php", ["-l", join(library, file)]);
    }
  },
  call: ({ folder }, env) => run("php", ["call.php"], { cwd: folder, env }),
};

export const openapiGeneratorRuby: Tool = {
  ...openapiGenerator("ruby"),
  language: "Ruby",
  needs: ["Java 11 or newer", "Maven", "Ruby with Typhoeus"],
  async compile({ folder }) {
    const library = join(folder, "client/lib");
    const files = (await readdir(library, { recursive: true })).filter((each) => each.endsWith(".rb"));
    await run("ruby", ["-c", ...files.map((file) => join(library, file))]);
  },
  call: ({ folder }, env) => run("ruby", ["-I", "client/lib", "call.rb"], { cwd: folder, env }),
};

export const openapiGeneratorCppRestsdk: Tool = {
  ...openapiGenerator("cpp-restsdk"),
  documents: ["openapi-client.json"],
  language: "C++",
  needs: ["Java 11 or newer", "Maven", "C++ with cpprestsdk"],
  note: "a resumed job is read by a program of its own",
  async compile({ folder }) {
    const client = join(folder, "client");
    const files = await readdir(join(client, "src"), { recursive: true });
    const sources = files.filter((each) => each.endsWith(".cpp")).map((each) => join(client, "src", each));
    const included = ["include", "include/CppRestOpenAPIClient"].map((each) => `-I${join(client, each)}`);
    const libraries = ["cpprest", "ssl", "crypto", "boost_system", "pthread"].map((each) => `-l${each}`);
    const caller = join(folder, "caller");
    await run("g++", [
      "-std=c++14",
      ...included,
      join(folder, "main.cpp"),
      ...sources,
      ...libraries,
      "-o",
      caller,
    ]);
    await run(caller, []);
  },
};

export const openapiGeneratorSpring: Tool = {
  ...openapiGenerator("spring"),
  documents: ["openapi-client.json"],
  language: "Java, a server",
  needs: ["Java 11 or newer", "Maven"],
  compile: ({ folder }) => mavenCompile(join(folder, "client")),
};

export const openapiGeneratorCsharp: Tool = {
  ...openapiGenerator("csharp"),
  language: "C#",
  needs: ["Java 11 or newer", "Maven"],
  builds: { had: ["dotnet", "--version"], build: ["dotnet", "build"] },
  note: "wants the .NET SDK, for which Debian 12 has no package (E: Couldn't find any package by glob 'dotnet-sdk-8.0'); its mono compiler stops at C# 7",
};

export const openapiGeneratorSwift6: Tool = {
  ...openapiGenerator("swift6"),
  language: "Swift",
  needs: ["Java 11 or newer", "Maven"],
  builds: { had: ["swift", "--version"], build: ["swift", "build"] },
  note: "wants Swift 6, for which Debian 12 has no package (E: Unable to locate package swiftlang)",
};

const enough = 'Version.match?(System.version(), "~> 1.18") || raise "this is Elixir #{System.version()}"';
const parse = "for file <- System.argv(), do: file |> File.read!() |> Code.string_to_quoted!()";

export const openapiGeneratorElixir: Tool = {
  ...openapiGenerator("elixir"),
  language: "Elixir",
  needs: ["Java 11 or newer", "Maven", "Elixir"],
  note: "wants Elixir 1.18 and packages of Hex; Debian 12 has Elixir 1.14, whose parser reads every file",
  builds: {
    had: ["elixir", "-e", enough],
    build: ["mix", "do", "local.hex", "--force", "+", "deps.get", "+", "compile"],
  },
  parsedOnly: true,
  async compile({ folder }) {
    const client = join(folder, "client");
    const files = (await readdir(client, { recursive: true })).filter((each) => /\.exs?$/.test(each));
    await run("elixir", ["-e", parse, ...files.map((file) => join(client, file))]);
  },
};

export const openapiGeneratorTypescriptFetch: Tool = {
  ...openapiGenerator("typescript-fetch"),
  language: "TypeScript",
  needs: ["Java 11 or newer", "Maven", "Node 22 or newer"],
  note: "imports without file names: give it a bundler",
  compile: ({ folder }) => compileTypeScript(folder, { module: "commonjs", moduleResolution: "node10" }),
  call: ({ folder }, env) => runCompiled(folder, env),
};
