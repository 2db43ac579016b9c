import type { ToolRefusal } from '@control-enforcement/client/frameworks';

/** The result of a tool that did not run, or whose result is not shown: the same in every version of MCP. */
export interface RefusedResult {
  [member: string]: unknown;
  content: { type: 'text'; text: string }[];
  isError: true;
}

/** What the model of the client is told. It is text: structured content would have to fit the schema of the tool. */
export function refusedResult(refusal: ToolRefusal): RefusedResult {
  return { content: [{ type: 'text', text: JSON.stringify(refusal) }], isError: true };
}
