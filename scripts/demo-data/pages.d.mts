/** Addresses of all pages with the demonstration data, below `/ui`. `:trace` stands for the id of a trace. */
export const PAGES: Readonly<Record<string, string>>;
