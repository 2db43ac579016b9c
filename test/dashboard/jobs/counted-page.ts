import type { Locator, Page } from 'playwright-core';

/** A page whose user's actions are counted: reading and waiting is none. */
export interface CountedPage {
  /** Clicks, filled fields, pressed keys and selected options so far. */
  readonly actions: number;
  click(locator: Locator): Promise<void>;
  fill(locator: Locator, text: string): Promise<void>;
  /** Presses a key or a combination such as `Control+s` where the focus is. */
  press(key: string): Promise<void>;
  select(locator: Locator, value: string): Promise<void>;
}

/** Counts the actions that are made through it on a page. */
export function countedPage(page: Page): CountedPage {
  let actions = 0;
  const count = async (action: Promise<unknown>): Promise<void> => {
    actions += 1;
    await action;
  };
  return {
    get actions() {
      return actions;
    },
    click: (locator) => count(locator.click()),
    fill: (locator, text) => count(locator.fill(text)),
    press: (key) => count(page.keyboard.press(key)),
    select: (locator, value) => count(locator.selectOption(value)),
  };
}
