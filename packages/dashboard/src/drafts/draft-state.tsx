import type { KeptState } from './use-kept-draft.js';

const TEXTS: Readonly<Record<KeptState, string>> = {
  nothing: '',
  pending: '',
  kept: ', kept as a draft',
  failed: ', this browser keeps no draft of them',
};

/** Says that something is not saved, and whether it would survive the page. */
export function DraftState({ state }: { readonly state: KeptState }) {
  return `Unsaved changes${TEXTS[state]}`;
}
