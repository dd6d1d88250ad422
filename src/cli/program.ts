// Every command with its arguments and options. Parsing, help, shell completion and the docs use this one definition.
import { Command } from "commander";
import { descriptions } from "../generated/descriptions.js";
import { version } from "../generated/version.js";
import {
  addBulkOptions,
  addOutputOptions,
  addRequestOptions,
  addServiceOptions,
  collectValues,
  numberOf,
  operationOfCommand as operation,
  secondsOf,
} from "./commandOptions.js";

const rerank = descriptions[operation.rerank];
const upload = descriptions[operation.upload];
const scale = descriptions[operation.scale];
const resume = descriptions[operation.resume];

/** Creates the program `tunerank`, without the code that runs its commands. */
export function createProgram(): Command {
  const program = new Command("tunerank")
    .description("Rerank documents, upload dataset files, scale deployments, resume fine-tuning jobs.")
    .usage("COMMAND [OPTIONS]")
    .version(version, "-v, --version", "Print the version.")
    .helpOption("-h, --help", "Show this help.")
    .helpCommand("help [COMMAND]", "Show the help of a command");
  for (const add of [addRerank, addUpload, addScale, addResume, addRequest])
    addOutputOptions(addServiceOptions(add(program)));
  for (const add of [addCheck, addMock, addConformance, addCompletion, addVersion])
    addOutputOptions(add(program));
  return program;
}

function addRerank(program: Command): Command {
  const command = program
    .command("rerank")
    .summary(rerank.summary)
    .description(rerank.description)
    .argument(
      "[FILE]",
      "A file with a document on each line. Without it, or with -, the standard input is read. If the output goes to a pipe or a file, its columns are the score, the number of the line in the input (from 1), and the document.",
    )
    .option("--query <TEXT>", `${rerank.fields.query} Required without --bulk.`)
    .option(
      "--field <NAME>",
      "Read JSON Lines, and rank this field of each object. Without it, each line is a document.",
    )
    .option(
      "--allow-empty",
      "An input without any documents or requests is not an error: nothing is sent, and the exit code is 0.",
    )
    .option(
      "--strict",
      "Fail at a line that is invalid, before anything is sent. Without it, with --field or --bulk, such lines are reported and skipped, and the exit code is 5.",
    )
    .option("--model <NAME>", rerank.fields.model)
    .option("--task <TEXT>", rerank.fields.task)
    .option("--top-n <N>", `${rerank.fields.top_n}`, numberOf("--top-n"));
  return addBulkOptions(addBatchOptions(command));
}

// Adds the options for sending the documents in several requests.
function addBatchOptions(command: Command): Command {
  return command
    .option(
      "--batch-size <N>",
      "Maximum number of documents in one request. Default: all. Without --timeout, each batch has 60 seconds of its own. Retries end then, or after --max-retries.",
      numberOf("--batch-size"),
    )
    .option(
      "--split <CHARACTERS>",
      "Cut longer documents into parts of at most this many characters (UTF-16 units), at spaces. A document has the score of its best part.",
      numberOf("--split"),
    )
    .option(
      "--max-batch-bytes <N>",
      "Maximum size of one request's JSON, in bytes of UTF-8; --batch-size may end a batch earlier. Default: no limit.",
      numberOf("--max-batch-bytes"),
    )
    .option(
      "--concurrency <N>",
      "Maximum number of requests at the same time, with --batch-size, --max-batch-bytes or --bulk. Default: auto: as many as the service accepts, at most 256. With --query and --max-retries: 4.",
      (value) => (value === "auto" ? value : numberOf("--concurrency")(value)),
    );
}

function addUpload(program: Command): Command {
  return program
    .command("upload")
    .summary(upload.summary)
    .description(upload.description)
    .argument("<DATASET>", "The dataset's ID.")
    .argument("<FILE...>", "One file or several, or - for the standard input.")
    .option("--name <NAME>", "The file's name to send. Required for the standard input.")
    .option(
      "--no-check",
      "Send files without a check. By default, a file named .jsonl or .ndjson (also with .gz) is sent only if it is valid JSON Lines.",
    )
    .option("--verify", "Fail if the field `bytes` of the response is not the number of bytes sent.")
    .option(
      "--checkpoint <FILE>",
      "Record the outcome of each file here. Run the same command again to continue: a file that may be stored is not sent again.",
    )
    .option(
      "--concurrency <N>",
      "Maximum number of files uploaded at the same time. Default: 1.",
      numberOf("--concurrency"),
    )
    .option(
      "--resend-unknown",
      "With --checkpoint, also send the files whose earlier upload may have succeeded. They may then be stored twice.",
    )
    .option("--wait", "Wait while another run writes to --checkpoint, instead of ending with an error.");
}

function addCheck(program: Command): Command {
  return program
    .command("check")
    .summary("Check JSON Lines files")
    .description(
      "Checks that each file is valid JSON Lines, sends nothing, and prints how many rows and bytes it has, its keys, and the first invalid lines. The exit code is 0 if every file is valid; 2 if one is not. The format of a dataset is not documented, and is not checked.",
    )
    .argument("<FILE...>", "One file or several, also gzipped, or - for the standard input.")
    .option(
      "--strict",
      "Treat warnings as errors: NaN and Infinity, a byte order mark, gzip without .gz in its name, duplicate lines, lines that are not objects or are too long to be checked, keys that are missing in a few rows.",
    );
}

function addScale(program: Command): Command {
  return program
    .command("scale")
    .summary(scale.summary)
    .description(scale.description)
    .argument("<DEPLOYMENT>", "The deployment's ID.")
    .argument("<REPLICAS>", `${scale.fields.replicaCount}`)
    .option("--yes", "Do not ask before scaling to zero. Only a person at a terminal is asked.");
}

function addResume(program: Command): Command {
  return program
    .command("resume")
    .summary(resume.summary)
    .description(resume.description)
    .argument("<JOB>", "The job's ID.");
}

function addRequest(program: Command): Command {
  const command = program
    .command("request")
    .summary("Call any operation of the service")
    .description(
      "Calls an operation of the OpenAPI document by its ID, and checks its parameters and body; or sends a METHOD to a PATH unchecked. Prints the response: JSON, text, or bytes unchanged.",
    )
    .usage("[options] ID | METHOD PATH")
    .argument(
      "[ID]",
      "An operation of the OpenAPI document (`request --list` shows all; `request ID --help` shows one), or the METHOD before a PATH: GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.",
    )
    .argument("[PATH]", "The path after the base URL. It begins with a slash; do not percent-encode it.");
  return addRequestOptions(command);
}

function addMock(program: Command): Command {
  return program
    .command("mock")
    .summary("Run a mock server")
    .description(
      "Serves every operation of the OpenAPI document from memory until you stop it, and writes a line to stderr for each request. Its data is mock data: scores count shared words, and nothing is trained.",
    )
    .option("--port <N>", "The port; 0 chooses a free one. Default: 4010.", numberOf("--port"))
    .option(
      "--host <ADDRESS>",
      "The address to listen on; 0.0.0.0 in a container. Anybody who can reach it can call it. Default: 127.0.0.1.",
    )
    .option(
      "--allow-origin <ORIGIN>",
      "An origin whose web pages may call it, in addition to those of this machine. May be given more than once.",
      collectValues,
    )
    .option(
      "--fail <SCRIPT>",
      "Make the next requests fail: OPERATION:FAILURE, with xN for N requests, such as rerank:503x2, upload:reset or scale:RESOURCE_EXHAUSTED. OPERATION is rerank, upload, scale, resume or an operation's id. FAILURE is a code, reset, stall, truncate, or a status from 200 to 599; even with 200 the body is an error. May be given more than once.",
      collectValues,
    )
    .option(
      "--strict",
      "Reject fields and query parameters that the OpenAPI document does not have, with 400.",
    );
}

function addConformance(program: Command): Command {
  return program
    .command("conformance")
    .summary("Test a client in any language")
    .description(
      "Runs the conformance test cases against your client: counts its requests, measures its waits, and prints how the result of each failed test case differs from the expected one. The client asks for a test case with GET /next and reports its result with POST /outcome. The exit code is 0 if every test case that was not skipped passed; 1 if one failed, the run was interrupted or all were skipped; 2 if the command line is invalid.",
    )
    .option(
      "--port <N>",
      "The port on this machine; 0 chooses a free one. Default: 4020.",
      numberOf("--port"),
    )
    .option(
      "--only <TEXT>",
      "Run only test cases with TEXT in their id. May be given more than once.",
      collectValues,
    )
    .option(
      "--except <TEXT>",
      "Skip test cases with TEXT in their id. May be given more than once.",
      collectValues,
    )
    .option("--large", "Also run the test cases with a file of 150,000,000 bytes.")
    .option("--list", "Print the ids of the test cases, with a description, and run nothing.")
    .option(
      "--timeout <TIME>",
      "End the run if the client sends nothing for this time. Default: 120 seconds.",
      secondsOf("--timeout"),
    )
    .option(
      "--badge <FILE>",
      "Write a badge (SVG) with the revision of the OpenAPI document and the numbers of passed, failed and skipped test cases.",
    )
    .option("--junit <FILE>", "Write the results as JUnit XML, which CI systems read.");
}

function addVersion(program: Command): Command {
  return program.command("version").summary("Print the version").description("Prints the version.");
}

export const shells = ["bash", "zsh", "fish", "powershell"] as const;

function addCompletion(program: Command): Command {
  return program
    .command("completion")
    .summary("Print a completion script")
    .description("Prints a script that completes commands and options in bash, zsh, fish or PowerShell.")
    .argument("<SHELL>", `One of ${shells.join(", ")}.`);
}
