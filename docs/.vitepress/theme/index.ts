import { type Theme, withBase } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { h } from "vue";
import FailureLab from "./lab/FailureLab.vue";
import TableFilter from "./TableFilter.vue";
import "./style.css";
import "./lab/lab.css";

// A link into a folded part unfolds it, as the browser does where it follows the link itself.
function openTarget(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target?.closest("details") ?? target?.closest(".api-type")?.querySelector("details");
  if (!folded || folded.open) return;
  folded.open = true;
  target?.scrollIntoView();
}

const notFound = () =>
  h("main", { class: "vp-doc home" }, [
    h("h1", "There is no such page"),
    h("p", [
      "Look for it in the search, or begin at the ",
      h("a", { href: withBase("/") }, "home page"),
      ".",
    ]),
  ]);

// The default theme without its web fonts, with a page of our own where there is none; the rest is style.css.
export default {
  extends: DefaultTheme,
  enhanceApp({ app, router }) {
    app.component("FailureLab", FailureLab).component("TableFilter", TableFilter);
    if (import.meta.env.SSR) return;
    addEventListener("hashchange", openTarget);
    router.onAfterRouteChange = () => setTimeout(openTarget);
  },
  Layout: () => h(DefaultTheme.Layout, null, { "not-found": notFound }),
} satisfies Theme;
