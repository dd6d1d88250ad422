// Two rules compare the document with this table; it is read here so that both read the same one.
export function codeStatuses(root) {
  return root.components?.schemas?.Code?.["x-http-statuses"] ?? {};
}
