import type { ControlVersion } from '@gen/enforcement/v1/control_service_pb.js';
import { UserText } from '../../ui/user-text.js';

const MAX_NAME = 40;

interface VersionAuthorProps {
  readonly version: Pick<ControlVersion, 'author' | 'keyFingerprint'>;
}

/** Who made a version: by name if it is known, else by the fingerprint of the key. */
export function VersionAuthor({ version: { author, keyFingerprint } }: VersionAuthorProps) {
  if (author !== undefined) {
    return (
      <span title={keyFingerprint === undefined ? undefined : `key ${keyFingerprint}`}>
        by <UserText text={author} max={MAX_NAME} />
      </span>
    );
  }
  return (
    <span className="muted">
      {keyFingerprint === undefined ? (
        'without a key'
      ) : (
        <>
          by the key <code>{keyFingerprint}</code>
        </>
      )}
    </span>
  );
}
