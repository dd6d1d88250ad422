import { type Theme, useData, withBase } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { defineAsyncComponent, h, hydrateOnVisible } from "vue";
import PageTools from "./PageTools.vue";
import "./style.css";
import "./lab/lab.css";

// A hash that is no text, such as "#%zz", leads nowhere; the theme would throw at it.
function dropBrokenHash(): void {
  try {
    decodeURIComponent(location.hash);
  } catch {
    history.replaceState(history.state, "", location.pathname + location.search);
  }
}

// A link into a folded part unfolds it, as the browser does where it follows the link itself.
function openTarget(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target?.closest("details");
  if (!folded || folded.open) return;
  for (let part: Element | null | undefined = folded; part; part = part.parentElement?.closest("details")) {
    part.setAttribute("open", "");
  }
  target?.scrollIntoView();
}

// The page one is on is seen in the long side bar.
function showActive(): void {
  const bar = document.querySelector(".VPSidebar");
  const active = [...(bar?.querySelectorAll(".VPSidebarItem.is-link.is-active") ?? [])].at(-1);
  if (!bar || !active) return;
  const { top, bottom } = active.getBoundingClientRect();
  if (top > 80 && bottom < bar.clientHeight) return;
  bar.scrollTop += top - bar.clientHeight / 2;
}

// A group's line is a button already: the theme's arrow within it is no second one.
function plainArrows(): void {
  for (const arrow of document.querySelectorAll(".VPSidebarItem > .item[role=button] > .caret"))
    for (const name of ["role", "tabindex", "aria-label"]) arrow.removeAttribute(name);
}

const openSearch = () => document.querySelector<HTMLButtonElement>(".DocSearch-Button")?.click();

const notFound = () =>
  h("main", { class: "vp-doc home" }, [
    h("h1", "There is no such page"),
    h("p", "It may have moved; the search finds it by what it is about."),
    h("p", { class: "actions" }, h("button", { type: "button", onClick: openSearch }, "Search")),
  ]);

// What this is, which version, and where to go with a fault.
const footer = () => {
  const { theme, page } = useData();
  const { version, revision, license, repository } = theme.value.facts;
  // A generated page has no source to edit.
  const { filePath = "generated/" } = page.value;
  const editAddress =
    repository && !filePath.startsWith("generated/") && `${repository}/edit/main/docs/${filePath}`;
  const to = (page: string, text: string) => h("a", { href: withBase(page) }, text);
  return h("aside", { class: "site-footer", "aria-label": "About this package" }, [
    h("span", `tunerank ${version}`),
    to("/guide/changelog.html", "Changelog"),
    to("/guide/contract-changelog.html", `Contract ${revision}`),
    to("/guide/contribute.html#licence", `${license} licence`),
    to("/guide/contribute.html", "Contribute and report"),
    repository ? h("a", { href: repository }, "Repository") : undefined,
    editAddress ? h("a", { href: editAddress }, "Edit this page") : undefined,
  ]);
};

// The default theme without its web fonts, with a page of our own where there is none; the rest is style.css.
export default {
  extends: DefaultTheme,
  enhanceApp({ app, router }) {
    // Few pages have a lab: it is loaded where it is seen.
    const lab = defineAsyncComponent({
      loader: () => import("./lab/FailureLab.vue"),
      hydrate: hydrateOnVisible({ rootMargin: "200px" }),
    });
    app.component("FailureLab", lab).component("PageTools", PageTools);
    if (import.meta.env.SSR) return;
    dropBrokenHash();
    addEventListener("hashchange", dropBrokenHash);
    addEventListener("hashchange", openTarget);
    router.onAfterRouteChange = () => {
      setTimeout(openTarget);
      setTimeout(showActive);
      setTimeout(plainArrows);
    };
  },
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      "not-found": notFound,
      "doc-after": () => h(footer),
      "page-bottom": () => h(footer),
    }),
} satisfies Theme;
