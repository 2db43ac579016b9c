import axe from 'axe-core';

/** Rules that need a layout or colors: a browser checks them, see `axeViolations` of the browser tests. */
const OF_A_BROWSER = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable', 'target-size'];

/** Serious and critical violations that axe finds in the structure of what is shown. */
export async function structureViolations(): Promise<string[]> {
  const { violations } = await axe.run(document.body, {
    resultTypes: ['violations'],
    rules: Object.fromEntries(OF_A_BROWSER.map((rule) => [rule, { enabled: false }])),
  });
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
