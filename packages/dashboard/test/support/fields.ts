import { EditorView } from '@codemirror/view';
import { act } from '@testing-library/react';
import type { UserEvent } from '@testing-library/user-event';

/** Writes a text into a field in place of what it has, all at once. */
export async function fill(user: UserEvent, field: HTMLElement, text: string): Promise<void> {
  if (text === '') return user.clear(field);
  await user.click(field);
  (field as HTMLInputElement | HTMLTextAreaElement).select();
  return user.paste(text);
}

/** Writes a text into an editor of code in place of what it has: keys cannot be typed at a place where nothing is laid out. */
export function writeCode(content: HTMLElement, text: string): void {
  const view = EditorView.findFromDOM(content);
  if (view === null) throw new Error('this is no editor of code');
  act(() => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }));
}
