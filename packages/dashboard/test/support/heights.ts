import { onTestFinished } from 'vitest';

/** Gives elements a height in this test, so that what draws only the rows in view draws some: nothing is laid out here. */
export function giveHeights(): void {
  const { prototype } = HTMLElement;
  const before = Object.getOwnPropertyDescriptor(prototype, 'clientHeight');
  Object.defineProperty(prototype, 'clientHeight', { get: () => 600, configurable: true });
  onTestFinished(() => {
    Reflect.deleteProperty(prototype, 'clientHeight');
    if (before !== undefined) Object.defineProperty(prototype, 'clientHeight', before);
  });
}
