import { join } from "node:path";
import type { Tool } from "../check/tool.js";
import { newerNode, run, versions } from "../check/toolchains.js";
import { checkPython, programs, runPython } from "./python.js";
import { packaged } from "./typescript.js";

/** Makes a server of MCP, which hands each operation to an assistant as a tool. */
export const openapiMcpGenerator: Tool = {
  name: "openapi-mcp-generator",
  language: "MCP, TypeScript",
  version: versions["openapi-mcp-generator"],
  needs: ["Node 22 or newer"],
  // The default that sends the body of resume is in this form only.
  documents: ["openapi-client.json"],
  command: "npx openapi-mcp-generator --input openapi-client.json --output client",
  unsupported: ["upload"],
  note: "cannot upload, whatever the document says: it sends the file as a text, and multipart/form-data without a boundary",
  program: async () => packaged("openapi-mcp-generator"),
  async compile({ folder }) {
    const [node = "", tsc = ""] = packaged("tsc");
    await run(node, [tsc, "--project", "client"], { cwd: folder });
  },
  call: ({ folder }, env) => run(newerNode, [join(folder, "call.ts")], { env }),
};

const venv = { name: "fastmcp", packages: ["fastmcp", "mypy"] } as const;

export const fastMcp: Tool = {
  name: "fastmcp",
  language: "MCP, Python",
  version: versions.fastmcp,
  needs: ["Python 3.11 or newer"],
  documents: ["openapi-client.json"],
  command: "FastMCP.from_openapi(openapi_spec=document, client=client)",
  get: `pip install fastmcp==${versions.fastmcp}`,
  unsupported: ["upload"],
  note: "sends no body for resume if the assistant leaves it out, although the tool's schema requires one and has a default; cannot upload bytes, whatever the document says: the file is a text without a name",
  shortfall: { statuses: [429], why: "in words of its own, without the code and the time to wait" },
  async generate() {
    // The server reads the document when it starts.
    await programs(venv);
  },
  compile: ({ folder }) => checkPython(venv, folder, join(folder, "call.py")),
  call: ({ folder }, env) => runPython(venv, folder, join(folder, "call.py"), env),
};
