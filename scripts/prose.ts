// Where src learns something from the text of an error: what test/project/prose.test.ts holds.
import path from "node:path";
import ts from "typescript";

const root = path.join(import.meta.dirname, "..");
const searches =
  /^(test|exec|match|matchAll|search|includes|startsWith|endsWith|indexOf|replace|replaceAll|split)$/;

/** Every place where the `message` or `text` of an error is searched or compared, as "file: code". */
export function proseRead(files: readonly string[] = sources()): readonly string[] {
  const { config } = ts.readConfigFile(path.join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram([...files], { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  const found: string[] = [];
  for (const file of program.getSourceFiles().filter(({ fileName }) => files.includes(fileName))) {
    const read = new Set<ts.Symbol>();
    const isProse = (node: ts.Node): boolean => {
      if (ts.isPropertyAccessExpression(node))
        return /^(message|text)$/.test(node.name.text) && isError(checker.getTypeAtLocation(node.expression));
      const symbol = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined;
      return symbol !== undefined && read.has(symbol);
    };
    const visit = (node: ts.Node): void => {
      // const { message } = error, or a parameter of that shape
      if (ts.isBindingElement(node) && ts.isIdentifier(node.name)) {
        const name = (node.propertyName ?? node.name).getText(file);
        const symbol = checker.getSymbolAtLocation(node.name);
        if (/^(message|text)$/.test(name) && symbol && isError(checker.getTypeAtLocation(node.parent)))
          read.add(symbol);
      }
      // const said = error.message
      if (ts.isVariableDeclaration(node) && node.initializer && isProse(node.initializer)) {
        const symbol = checker.getSymbolAtLocation(node.name);
        if (symbol) read.add(symbol);
      }
      if (isProse(node) && isSearched(node)) {
        const name = path.relative(root, file.fileName).split(path.sep).join("/");
        found.push(`${name}: ${node.parent.getText(file).split("\n")[0]}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return found;
}

function sources(): readonly string[] {
  return ts.sys.readDirectory(path.join(root, "src"), [".ts"]);
}

function isError(type: ts.Type): boolean {
  const types = type.isUnion() ? type.types : [type];
  return types.some((each) => {
    const name = each.getSymbol()?.name ?? "";
    return /^(Failure|.*Error|ErrnoException)$/.test(name) || (each.getBaseTypes() ?? []).some(isError);
  });
}

// Whether a text is searched, taken apart or compared; to print it, or to pass it on, is none of these.
function isSearched(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.expression === node)
    return searches.test(parent.name.text);
  if (ts.isCallExpression(parent) && parent.arguments.includes(node as ts.Expression))
    return ts.isPropertyAccessExpression(parent.expression) && searches.test(parent.expression.name.text);
  return ts.isBinaryExpression(parent) && /^(={2,3}|!={1,2}|[<>]=?)$/.test(parent.operatorToken.getText());
}
