import { AddressTabs } from '../ui/page/address-tabs.js';
import { Page } from '../ui/page/page.js';
import { History } from './history.js';
import { Inbox } from './inbox.js';
import './approvals.css';

const TABS = [
  { id: 'inbox', name: 'Waiting', content: <Inbox /> },
  { id: 'history', name: 'History', content: <History /> },
];

/** The steps that wait for a decision of a person, and what became of earlier ones. */
export default function ApprovalsPage() {
  return (
    <Page title="Approvals">
      <AddressTabs label="Approvals" tabs={TABS} />
    </Page>
  );
}
