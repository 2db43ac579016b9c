import { useQuery } from '@connectrpc/connect-query';
import { type Shadow, ShadowService } from '@gen/enforcement/v1/shadow_service_pb.js';
import { NameLink } from '../ui/name-link.js';
import { Page } from '../ui/page/page.js';
import { Empty, QueryState } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { Table } from '../ui/table/table.js';
import { comparedSteps, shareText } from './shadow-text.js';

const REFRESH_MS = 5_000;
const MAX_NAME = 40;

/** The shadows of all controls, with what they would change. */
export default function ShadowsPage() {
  const query = useQuery(ShadowService.method.listShadows, {}, { refetchInterval: REFRESH_MS });
  return (
    <Page title="Shadows">
      <QueryState query={query} what="shadows">
        {({ shadows }) => (
          <Table
            label="Shadows"
            columns={COLUMNS}
            rows={shadows}
            keyOf={({ shadowVersion }) => shadowVersion}
            empty={
              <Empty title="No control has a shadow">
                <p>
                  A shadow is a proposed version of a control, which is evaluated beside it and never decides.
                  Change a control in the editor, and set the change as its shadow.
                </p>
              </Empty>
            }
          />
        )}
      </QueryState>
    </Page>
  );
}

const COLUMNS: Columns<Shadow> = [
  {
    head: 'Control',
    cell: ({ controlId, controlName }) => (
      <NameLink href={`/controls/${controlId}?tab=shadow`} name={controlName} max={MAX_NAME} />
    ),
  },
  { head: 'For', cell: shareText },
  { head: 'Steps', className: 'number', cell: (shadow) => comparedSteps(shadow).toLocaleString() },
  {
    head: 'Only the shadow matched',
    className: 'number',
    cell: ({ onlyShadowMatched: count }) => count.toLocaleString(),
  },
  {
    head: 'Only the control matched',
    className: 'number',
    cell: ({ onlyLiveMatched: count }) => count.toLocaleString(),
  },
  {
    head: 'Failed',
    className: 'number',
    cell: ({ liveFailed, shadowFailed }) => (liveFailed + shadowFailed).toLocaleString(),
  },
];
