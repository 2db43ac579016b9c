const MAX_SHOWN = 60;
const KEPT_AT_END = 18;

interface UserTextProps {
  readonly text: string;
  readonly max?: number;
}

/** A name chosen by a user: plain text in its own writing direction, shortened in the middle, complete on hover. */
export function UserText({ text, max = MAX_SHOWN }: UserTextProps) {
  const letters = [...text];
  const shown =
    letters.length > max
      ? `${letters.slice(0, max - KEPT_AT_END).join('')}…${letters.slice(-KEPT_AT_END).join('')}`
      : text;
  return (
    <bdi className="user-text" title={text}>
      {shown === '' ? '(no name)' : shown}
    </bdi>
  );
}
