const MAX_SHOWN = 60;

interface UserTextProps {
  readonly text: string;
  readonly max?: number;
}

/** A name chosen by a user: plain text in its own writing direction, shortened in the middle, complete on hover. */
export function UserText({ text, max = MAX_SHOWN }: UserTextProps) {
  const letters = [...text];
  const atEnd = Math.floor(max / 3);
  const shown =
    letters.length > max
      ? `${letters.slice(0, max - atEnd).join('')}…${letters.slice(-atEnd).join('')}`
      : text;
  return (
    <bdi className="user-text" title={text}>
      {shown === '' ? '(no name)' : shown}
    </bdi>
  );
}
