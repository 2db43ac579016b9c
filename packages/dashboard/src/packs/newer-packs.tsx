import { useQuery } from '@connectrpc/connect-query';
import { PackService } from '@gen/enforcement/v1/pack_service_pb.js';
import { useMay } from '../session/session-context.js';
import { NameLink } from '../ui/name-link.js';
import { packAddress } from './pack-address.js';

const MAX_NAMED = 3;
/** Packs change with the service, which is started again then. */
const STALE_MS = 300_000;

/** That installed packs have newer versions, in a line. Nothing if none has. */
export function NewerPacks() {
  const maySee = [useMay('controls.read'), useMay('policies.read')].every((may) => may);
  const { data } = useQuery(
    PackService.method.listPackInstallations,
    {},
    { enabled: maySee, staleTime: STALE_MS, retry: false },
  );
  const outdated = (data?.installations ?? []).filter(({ updateAvailable }) => updateAvailable);
  const names = [...new Set(outdated.map(({ packName }) => packName))];
  if (names.length === 0) return null;
  return (
    <p>
      A newer version is there of the installed {names.length === 1 ? 'pack' : 'packs'}{' '}
      {names.slice(0, MAX_NAMED).map((name, index) => (
        <span key={name}>
          {index > 0 && ', '}
          <NameLink href={packAddress(name, 'installations')} name={name} />
        </span>
      ))}
      {names.length > MAX_NAMED && ` and ${names.length - MAX_NAMED} more`}.
    </p>
  );
}
