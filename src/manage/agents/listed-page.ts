import type { AgentInputs } from './agent-schemas.js';
import { firstPart } from './control-parts.js';
import type { ListedControl } from './watched-controls.js';

type PageInput = Pick<
  AgentInputs['listAgentControls'],
  'enabled_state' | 'rendered_state' | 'page_size' | 'page_token' | 'max_message_bytes'
>;

/** Equal for requests that have the same page of the same controls. */
export function pageKey(input: PageInput): string {
  const { enabled_state, rendered_state, page_size, page_token, max_message_bytes } = input;
  return [enabled_state, rendered_state, page_size, page_token, max_message_bytes].join();
}

/** A page of controls, by id descending. Throws PAYLOAD_TOO_LARGE when one control exceeds the size of a page. */
export function listedPage(controls: readonly ListedControl[], input: PageInput): object {
  const { enabled_state: enabledState, rendered_state: renderedState, page_token: after } = input;
  const wanted = controls
    .filter(({ rendered }) => renderedState === 'all' || rendered === (renderedState === 'rendered'))
    .map(({ view }) => view)
    .filter(({ control }) => enabledState === 'all' || control.enabled === (enabledState === 'enabled'))
    .filter(({ id }) => after === undefined || id < after);
  const limits = { maxControls: input.page_size ?? null, maxBytes: input.max_message_bytes ?? null };
  const shown = firstPart(wanted, limits);
  const last = shown.at(-1);
  const hasMore = last !== undefined && shown.length < wanted.length;
  return { controls: shown, next_page_token: hasMore ? String(last.id) : null };
}
