/** Where to go on from an address that leads nowhere: pages below the site, and their names. */
export const ways: Readonly<Record<string, string>> = {
  "": "Home",
  "guide/quickstart.html": "Quickstart",
  "guide/questions.html": "Questions and answers",
  "guide/errors.html": "Errors and status codes",
  "reference/": "HTTP reference",
  "api/": "TypeScript API",
  "llms.txt": "All pages, in one list",
};
