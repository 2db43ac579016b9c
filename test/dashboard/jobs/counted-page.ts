import type { Locator, Page } from 'playwright-core';

/** A page whose actions are counted: clicks, filled fields, pressed keys, chosen options. */
export interface CountedPage {
  /** Number of actions until now. */
  readonly actions: number;
  click(target: Locator): Promise<void>;
  fill(target: Locator, text: string): Promise<void>;
  press(key: string): Promise<void>;
  select(target: Locator, value: string): Promise<void>;
}

/** Counts what a person does on a page. Reading and waiting is no action. */
export function countedPage(page: Page): CountedPage {
  let actions = 0;
  return {
    get actions() {
      return actions;
    },
    async click(target) {
      actions += 1;
      await target.click();
    },
    async fill(target, text) {
      actions += 1;
      await target.fill(text);
    },
    async press(key) {
      actions += 1;
      await page.keyboard.press(key);
    },
    async select(target, value) {
      actions += 1;
      await target.selectOption(value);
    },
  };
}
