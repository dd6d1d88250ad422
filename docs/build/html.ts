import type { Place } from "./head.js";

/**
 * A built page, put right for a slow line: the style alone is waited for, the scripts come after it. VitePress writes
 * an empty style for icons that nothing here uses, and a page for lost addresses that is blank without JavaScript.
 */
export function finishedHtml(html: string, page: string, where: Place): string {
  const light = html
    .replace(/\n\s*<link rel="preload stylesheet" href="[^"]*vp-icons\.css"[^>]*>/, "")
    .replaceAll(/<link rel="modulepreload"/g, '<link rel="modulepreload" fetchpriority="low"')
    .replace(/<script type="module" src=/, '<script type="module" fetchpriority="low" src=');
  return page === "404.md" ? light.replace("</body>", `${lostPage(where)}</body>`) : light;
}

function lostPage({ base }: Place): string {
  return `<noscript><main class="vp-doc home"><h1>There is no such page</h1><p>It may have moved. Go on at the <a href="${base}guide/quickstart.html">Quickstart</a>, or look through <a href="${base}llms.txt">all pages</a>.</p></main></noscript>`;
}
