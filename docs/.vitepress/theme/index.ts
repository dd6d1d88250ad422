import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import "./style.css";

// The default theme without its web fonts; the rest is style.css.
export default { extends: DefaultTheme } satisfies Theme;
