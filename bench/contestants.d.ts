/** The contestants and the names they are shown with. */
export const labels: Readonly<Record<string, string>>;
