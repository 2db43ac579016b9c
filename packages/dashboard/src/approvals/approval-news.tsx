import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { useVisible } from '../ui/browser/use-visible.js';
import { notify, useNotices } from './browser-notices.js';
import { useApprovalNews } from './use-approval-news.js';
import { usePending } from './use-pending.js';

/** Keeps what is shown of approvals up to date, on every page; with notices, also while the tab is hidden. */
export default function ApprovalNews() {
  const isVisible = useVisible();
  const hasNotices = useNotices();
  const [, open] = useLocation();
  const { data } = usePending();
  const latest = useRef<number>(undefined);
  useApprovalNews(isVisible || hasNotices);
  useEffect(() => {
    if (data === undefined) return;
    const known = latest.current;
    latest.current = Math.max(known ?? 0, ...data.approvals.map(({ id }) => id));
    if (known === undefined || !hasNotices) return;
    for (const approval of data.approvals) {
      if (approval.id > known) notify(approval, () => open(`/approvals/${approval.id}`));
    }
  }, [data, hasNotices, open]);
  return null;
}
