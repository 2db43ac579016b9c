import { useState } from 'react';
import { useDebounced } from '../ui/browser/use-debounced.js';

/** Things found at once; a longer name finds the others. */
const FOUND_AT_ONCE = 25;

/** A search by a part of a name: the text of its field, and the members of a list request for it. */
export function useNameSearch() {
  const [text, setText] = useState('');
  const name = useDebounced(text).trim();
  return { text, setText, request: { limit: FOUND_AT_ONCE, ...(name === '' ? {} : { name }) } };
}
