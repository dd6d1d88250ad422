// Every command with its arguments and options: parsing, help, completion and the docs read it.
import { Command } from "commander";
import { descriptions } from "../generated/descriptions.js";
import { version } from "../generated/version.js";
import { UsageError } from "./context.js";

const {
  rerankDocuments: rerank,
  uploadDatasetFile: upload,
  scaleDeployment: scale,
  resumeReinforcementFineTuningJob: resume,
} = descriptions;

/** The program `tunerank`. What runs a command is not in it. */
export function createProgram(): Command {
  const program = new Command("tunerank")
    .description("Rerank documents, upload dataset files, scale deployments, resume fine-tuning jobs.")
    .usage("COMMAND [OPTIONS]")
    .version(version, "-v, --version", "Print the version.")
    .helpOption("-h, --help", "Show this help.")
    .helpCommand("help [COMMAND]", "Show the help of a command");
  addRerank(program);
  addUpload(program);
  addScale(program);
  addResume(program);
  addRequest(program);
  addMock(program);
  addConformance(program);
  addCompletion(program);
  return program;
}

function addRerank(program: Command): void {
  const command = program
    .command("rerank")
    .summary(rerank.summary)
    .description(rerank.description)
    .argument("[FILE]", "The documents, one a line. Without it or with -, the standard input.")
    .requiredOption("--query <TEXT>", `Required. ${rerank.fields.query}`)
    .option(
      "--field <NAME>",
      "The input is JSON Lines, and this field of each object is the document. Else each line is one.",
    )
    .option("--model <NAME>", rerank.fields.model)
    .option("--task <TEXT>", rerank.fields.task)
    .option("--top-n <N>", `${rerank.fields.top_n}`, numberOf("--top-n"))
    .option("--batch-size <N>", "The most documents in one request. Default: all.", numberOf("--batch-size"))
    .option(
      "--concurrency <N>",
      "The most requests at once, with --batch-size. Default: 4.",
      numberOf("--concurrency"),
    );
  addServiceOptions(command);
  addOutputOptions(command);
}

function addUpload(program: Command): void {
  const command = program
    .command("upload")
    .summary(upload.summary)
    .description(`${upload.description} ${upload.fields.file}`)
    .argument("<DATASET>", "The dataset's ID.")
    .argument("<FILE>", "The file to upload, or - for the standard input.")
    .option("--name <NAME>", "The name to send. Needed when FILE is -, the standard input.")
    .option("--verify", "Fail when the answer's byte count is not the one that was sent.");
  addServiceOptions(command);
  addOutputOptions(command);
}

function addScale(program: Command): void {
  const command = program
    .command("scale")
    .summary(scale.summary)
    .description(scale.description)
    .argument("<DEPLOYMENT>", "The deployment's ID.")
    .argument("<REPLICAS>", `${scale.fields.replicaCount}`);
  addServiceOptions(command);
  addOutputOptions(command);
}

function addResume(program: Command): void {
  const command = program
    .command("resume")
    .summary(resume.summary)
    .description(resume.description)
    .argument("<JOB>", "The job's ID.");
  addServiceOptions(command);
  addOutputOptions(command);
}

function addRequest(program: Command): void {
  const command = program
    .command("request")
    .summary("Call any other operation of the service")
    .description(
      "Sends a request with your key, and prints the answer: JSON, text, or bytes as they are. Which paths there are and what they take is for the service's own documentation to say.",
    )
    .argument("<METHOD>", "GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.")
    .argument("<PATH>", "The path below the service's address, not encoded. It begins with a slash.")
    .option("--query <NAME=VALUE>", "A parameter of the query. May be given more than once.", collect)
    .option("--body <JSON>", "The body, as JSON.")
    .option("--body-file <FILE>", "A file that holds the body, or - for the standard input.")
    .option("--content-type <TYPE>", "The body's media type. Default: application/json.")
    .option("--accept <TYPE>", "The media type to be answered with. Default: application/json.")
    .option("--repeatable", "Sending it twice does no more than once. Default for GET, HEAD, PUT and DELETE.")
    .option("--max-bytes <N>", "The most bytes of the answer. Default: 1048576.", numberOf("--max-bytes"));
  addServiceOptions(command);
  addOutputOptions(command);
}

function addMock(program: Command): void {
  const command = program
    .command("mock")
    .summary("Serve a stand-in for the service")
    .description(
      "Serves all four operations from memory until it is stopped, with a line on stderr for each request. It is a stand-in: scores are lexical, nothing is trained or run.",
    )
    .option("--port <N>", "The port; 0 takes a free one. Default: 4010.", numberOf("--port"))
    .option(
      "--host <ADDRESS>",
      "The address to listen on; 0.0.0.0 in a container. Whoever reaches it can call it. Default: 127.0.0.1.",
    )
    .option(
      "--allow-origin <ORIGIN>",
      "An origin of web pages that may call it, besides those of this machine. May be given more than once.",
      collect,
    )
    .option(
      "--fail <SCRIPT>",
      "What the next requests meet: rerank:503x2, upload:reset, scale:RESOURCE_EXHAUSTED. May be given more than once.",
      collect,
    )
    .option("--strict", "Answer 400 to fields that the contract does not have.");
  addOutputOptions(command);
}

function addConformance(program: Command): void {
  const command = program
    .command("conformance")
    .summary("Certify a client in any language")
    .description(
      "Serves the rows of the conformance data to a client under test, counts its requests and measures its waits, and prints what differs, row by row. The client asks with GET /next and posts what it saw to POST /outcome. The exit code is 1 when a row differs.",
    )
    .option("--port <N>", "The port on this machine; 0 takes a free one. Default: 4020.", numberOf("--port"))
    .option("--only <TEXT>", "Only rows with this in their name. May be given more than once.", collect)
    .option("--list", "Print the names of the rows, and serve nothing.")
    .option(
      "--timeout <SECONDS>",
      "How long the client may say nothing before the run ends. Default: 120.",
      numberOf("--timeout"),
    )
    .option("--badge <FILE>", "Write a picture (SVG) with the revision and the counts.");
  addOutputOptions(command);
}

/** The shells that completion is for. */
export const shells = ["bash", "zsh", "fish"] as const;

function addCompletion(program: Command): void {
  const command = program
    .command("completion")
    .summary("Print a completion script")
    .description("Prints a script that completes commands and options in bash, zsh or fish.")
    .argument("<SHELL>", `One of ${shells.join(", ")}.`);
  addOutputOptions(command);
}

function addServiceOptions(command: Command): void {
  command
    .optionsGroup("The service:")
    .option("--base-url <URL>", "The service's address. Else TUNERANK_BASE_URL.")
    .option(
      "--api-key-file <FILE>",
      "A file that holds the API key. Else TUNERANK_API_KEY. There is no option for the key itself: other users of a machine can read arguments.",
    )
    .option("--account <ID>", "The account. Else TUNERANK_ACCOUNT_ID.")
    .option(
      "--timeout <SECONDS>",
      "The whole call's time, retries included. Default: 60 for rerank, 30 for scale, resume and request, 60 and more by size for upload.",
      numberOf("--timeout"),
    )
    .option(
      "--max-retries <N>",
      "The most retries where a retry is allowed. Default: 2.",
      numberOf("--max-retries"),
    )
    .option("--allow-insecure-http", "Allow plain http to another machine.")
    .option("--proxy <URL>", "Go through this proxy. Else what https_proxy, all_proxy and no_proxy say.")
    .option("--noproxy <HOSTS>", "Reach these without a proxy, whatever no_proxy says.");
}

function addOutputOptions(command: Command): void {
  command
    .optionsGroup("Output:")
    .option("--json", "Print one JSON value for machines; errors too, on stderr.")
    .option("-q, --quiet", "Print results and errors, nothing on the way.")
    .option("--no-color", "No colours. The variable NO_COLOR does the same.")
    .helpOption("-h, --help", "Show this help.");
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function numberOf(option: string): (value: string) => number {
  return (value) => {
    // Number("") and Number(" ") are 0.
    if (value.trim() !== "" && Number.isFinite(Number(value))) return Number(value);
    throw new UsageError(`${option} must be a number.`);
  };
}
