// A language or package manager that was chosen is shown in the tabs of every page.
const tabsKey = "tunerank-tabs";
const labelOf = (input: Element): string =>
  (input.nextElementSibling as HTMLElement | null)?.dataset.title ?? "";

function chosenTabs(): string[] {
  try {
    return JSON.parse(localStorage.getItem(tabsKey) ?? "[]");
  } catch {
    return [];
  }
}

function rememberTab({ target }: Event): void {
  if (!(target instanceof HTMLInputElement) || !target.matches(".vp-code-group input")) return;
  const label = labelOf(target);
  const others = chosenTabs().filter((each) => each !== label);
  localStorage.setItem(tabsKey, JSON.stringify([label, ...others].slice(0, 8)));
  chooseTabs();
}

/** Shows in all tabs of the page what was chosen last. */
export function chooseTabs(): void {
  const chosen = chosenTabs();
  for (const group of document.querySelectorAll(".vp-code-group")) {
    const inputs = [...group.querySelectorAll("input")];
    const label = chosen.find((each) => inputs.some((input) => labelOf(input) === each));
    const at = inputs.findIndex((input) => labelOf(input) === label);
    if (at < 0) continue;
    (inputs[at] as HTMLInputElement).checked = true;
    for (const [index, block] of [...(group.querySelector(".blocks")?.children ?? [])].entries())
      block.classList.toggle("active", index === at);
  }
}

addEventListener("change", rememberTab);
