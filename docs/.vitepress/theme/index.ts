import { type Theme, withBase } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { h } from "vue";
import FailureLab from "./lab/FailureLab.vue";
import "./style.css";
import "./lab/lab.css";

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
  enhanceApp: ({ app }) => void app.component("FailureLab", FailureLab),
  Layout: () => h(DefaultTheme.Layout, null, { "not-found": notFound }),
} satisfies Theme;
