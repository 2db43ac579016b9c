import { useRef } from 'react';

/** Keys of the items of a list. */
interface ItemKeys {
  /** One key an item. An edit of the items is made of their keys too. */
  current: number[];
  /** A key that no item has. */
  fresh(): number;
}

/** Keys of the items of a list that move with them, so that an input keeps its focus when its item moves. */
export function useItemKeys(count: number): ItemKeys {
  const next = useRef(0);
  const keys = useRef<ItemKeys>({
    current: [],
    fresh: () => {
      next.current += 1;
      return next.current;
    },
  }).current;
  while (keys.current.length < count) keys.current.push(keys.fresh());
  keys.current.length = count;
  return keys;
}
