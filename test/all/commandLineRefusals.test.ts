// Mistakes on the command line: each is refused before anything is sent, and never shows a key that landed there.
import { expect, test } from "vitest";
import { canaryKey } from "../support/canary.js";
import { tunerank } from "../support/commandLine.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

const wrong: readonly (readonly [args: string[], message: string])[] = [
  [["frobnicate"], "There is no such command."],
  [["scal", "prod", "1"], "There is no such command. (Did you mean scale?)"],
  [["help", "frobnicate"], "There is no such command."],
  [["--quiet", "scale", "prod", "1"], "Unknown option '--quiet'."],
  [["scale"], "Missing required argument 'DEPLOYMENT'."],
  [["scale", "prod"], "Missing required argument 'REPLICAS'."],
  [["scale", "prod", "many"], "REPLICAS must be a whole number, 0 or more."],
  [["scale", "prod", "1", "2"], "Too many arguments for 'scale'. Expected 2 arguments but got 3."],
  [["scale", "prod", "1", "--replicas", "2"], "Unknown option '--replicas'."],
  [["scale", "prod", "1", "--jsno"], "Unknown option '--jsno'. (Did you mean --json?)"],
  [["scale", "prod", "1", "--no-json"], "Unknown option '--no-json'. (Did you mean --json?)"],
  [["scale", "prod", "1", "-x"], "Unknown option '-x'."],
  [["mock", "--account", "acme"], "Unknown option '--account'."],
  [["scale", "prod", "1", "--json=yes"], "Option '--json' is unknown or takes no value."],
  [["scale", "prod", "1", "--timeout"], "Option '--timeout <SECONDS>' argument missing."],
  [
    ["scale", "prod", "1", "--max-retries", "-1"],
    "Option '--max-retries' has no value. One that starts with a dash is written --max-retries=VALUE.",
  ],
  [
    ["rerank", "--query", "--quiet", "package.json"],
    "Option '--query' has no value. One that starts with a dash is written --query=VALUE.",
  ],
  [["scale", "prod", "-1"], "REPLICAS must be a whole number, 0 or more."],
  [["scale", "prod", "1", "--timeout="], "--timeout must be a number."],
  [["scale", "prod", "1", "--timeout", "soon"], "--timeout must be a number."],
  [["scale", "prod", "1", "--total-timeout", "5"], "Unknown option '--total-timeout'."],
  [["rerank", "--query", "q", "--max-batch-bytes", "1k"], "--max-batch-bytes must be a number."],
  [
    ["rerank", "--query", "q", "--max-batch-bytes", "2000", "package.json", "--total-timeout", "5"],
    "--total-timeout has no effect without --bulk.",
  ],
  [["upload", "reviews", "-"], "The standard input has no name: give one with --name NAME."],
  [["rerank", "--query", "q", "nowhere.txt"], "FILE cannot be read: ENOENT: no such file or directory."],
  [["rerank", "--query", "q", "/dev/null"], "There is no document in the input."],
  [["rerank", "package.json"], "Required option '--query <TEXT>' not specified."],
  [["rerank", "-q", "password", "package.json"], "-q means --quiet: the query is --query TEXT."],
  [["rerank", "-q", "password"], "-q means --quiet: the query is --query TEXT."],
  [["rerank", "-qpassword", "package.json"], "-q means --quiet: the query is --query TEXT."],
  [["rerank", "package.json", "--quiet"], "Required option '--query <TEXT>' not specified."],
  [
    ["rerank", "--query", "q", "--field", "text", "README.md"],
    "Line 1 is not JSON; without --field each line is a document.",
  ],
  [
    ["rerank", "--query", "q", "--field", "nope", "examples/train.jsonl"],
    "Line 1 has no text in the field that --field names.",
  ],
  [
    ["scale", "prod", "1", "--api-key-file", "nowhere"],
    "--api-key-file cannot be read: ENOENT: no such file or directory. It takes the name of a file, not the key.",
  ],
  [["completion", "tcsh"], "SHELL must be one of bash, zsh, fish."],
  [["mock", "--port", "70000"], "--port must be 0 to 65535."],
];

test.each(wrong)("%j is refused before anything is sent", async (args, message) => {
  const { exitCode, stdout, stderr } = await tunerank(args, { baseUrl: server.url });
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(stderr.split("\n")[0]).toBe(`tunerank: ${message}`);
  expect(stderr.split("\n")[1]).toMatch(/^Run `tunerank .*--help` for help\.$/);
  expect(server.connections).toBe(0);
});

// Wherever a key may land by mistake.
test.each([
  ["too many arguments", ["scale", "prod", "1", canaryKey]],
  ["too many arguments, for machines", ["scale", "prod", "1", canaryKey, "--json"]],
  ["too many arguments after --", ["scale", "--", "prod", "1", canaryKey]],
  ["a command", [canaryKey]],
  ["a command to help with", ["help", canaryKey]],
  ["a number", ["scale", "prod", canaryKey]],
  ["an option's number", ["scale", "prod", "1", "--timeout", canaryKey]],
  ["an option", ["scale", "prod", "1", `--${canaryKey}`]],
  ["a short option", ["scale", "prod", "1", `-${canaryKey}`]],
  ["an unknown option's value", ["scale", "prod", "1", `--api-token=${canaryKey}`]],
  ["the value of an option that takes none", ["scale", "prod", "1", `--json=${canaryKey}`]],
  ["a file of documents", ["rerank", "--query", "q", canaryKey]],
  ["a field", ["rerank", "--query", "q", "--field", canaryKey, "examples/train.jsonl"]],
  ["a key's file", ["scale", "prod", "1", "--api-key-file", canaryKey]],
  ["an address", ["scale", "prod", "1", "--base-url", canaryKey]],
  ["a shell", ["completion", canaryKey]],
])("a key given as %s is refused and not repeated", async (_, args) => {
  const { exitCode, stdout, stderr } = await tunerank(args, { baseUrl: server.url });
  expect([exitCode, stdout]).toEqual([2, ""]);
  for (const part of [canaryKey, "4tX/+", "9z?~"]) expect(stderr).not.toContain(part);
  expect(server.connections).toBe(0);
});
