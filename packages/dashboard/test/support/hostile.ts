/** Texts that a page must show as they are. */
export const HOSTILE = {
  markup: '<img src=x onerror="alert(1)">',
  quotes: `"'><script>alert(2)</script>`,
  rightToLeft: 'שלום\u202Ecod.exe',
};
