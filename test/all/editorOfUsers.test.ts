import type ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEditor } from "../support/editor.js";
import { installPackedPackage, type PackedPackage } from "../support/packedPackage.js";

// An editor with the packed package: what it shows is read from the declarations that users get.
let packed: PackedPackage;

beforeAll(async () => {
  packed = await installPackedPackage();
});
afterAll(() => packed?.remove());

const entries = ["tunerank", "tunerank/bulk", "tunerank/testing", "tunerank/ai-sdk", "tunerank/langchain"];

test.each(entries)("every public name of %s is completed, and its hover says what it is", (entry) => {
  const source = `import * as all from "${entry}";\nimport {  } from "${entry}";\nall;\n`;
  const editor = openEditor(source, packed.user);
  const module = editor.program.getTypeChecker();
  const file = editor.program.getSourceFile(editor.file) as ts.SourceFile;
  const [imported] = file.statements as unknown as ts.ImportDeclaration[];
  const symbol = module.getSymbolAtLocation((imported as ts.ImportDeclaration).moduleSpecifier) as ts.Symbol;
  const names = module.getExportsOfModule(symbol).map(({ name }) => name);
  expect(names.length).toBeGreaterThan(0);
  expect(editor.completions(source.indexOf("{  }") + 2)).toEqual(expect.arrayContaining(names));
  const using = `import { ${names.map((name) => `type ${name}`).join(", ")} } from "${entry}";\n`;
  const hovering = openEditor(using, packed.user);
  for (const name of names) {
    const { text, about } = hovering.hover(hovering.file, using.indexOf(`type ${name}`) + 5);
    expect(text, name).toContain(name);
    expect(about, name).toMatch(/^\w/);
  }
});

test("a wrong field's name is in the type error", () => {
  const source = `import { createClient } from "tunerank";
    const client = createClient({ apikey: "k" });
    client.rerank({ query: "q", documents: ["d"], topN: 1 });
    client.deployments.scale({ id: "prod", replicas: 1 });
    client.datasets.upload("d", "f", { onprogress() {} });`;
  const problems = openEditor(source, packed.user)
    .problems()
    .map((problem) => JSON.stringify(problem));
  expect(problems).toHaveLength(4);
  for (const [index, name] of ["apikey", "topN", "2-3 arguments", "onprogress"].entries()) {
    expect(problems[index]).toContain(name);
  }
});
