import manifest from "../package.json" with { type: "json" };

/** Every version is pinned in package.json: npm's own packages, and under "versions" those of other registries. */
export const versions: typeof manifest.dependencies & typeof manifest.versions = {
  ...manifest.dependencies,
  ...manifest.versions,
};
