import type { Approval } from '@gen/enforcement/v1/approval_service_pb.js';
import { useSyncExternalStore } from 'react';
import { ownedItem } from '../ui/browser/owned-storage.js';
import { questionText, stepText } from './approval-text.js';

const item = ownedItem('approval-notices');
const watchers = new Set<() => void>();

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Whether this browser can show notices. Some offer them on secure pages only. */
export const CAN_NOTIFY = 'Notification' in globalThis;

function isOn(): boolean {
  return CAN_NOTIFY && Notification.permission === 'granted' && item.read() === 'on';
}

/** Whether the caller wants notices in this browser, and may have them. */
export function useNotices(): boolean {
  return useSyncExternalStore(watch, isOn);
}

/** Switches notices on, which asks the browser for its permission, or off. */
export async function setNotices(isWanted: boolean): Promise<NotificationPermission> {
  const permission = isWanted ? await Notification.requestPermission() : Notification.permission;
  item.write(isWanted && permission === 'granted' ? 'on' : 'off');
  for (const watcher of watchers) watcher();
  return permission;
}

/** Tells of an approval outside of the page. Several tabs that do are one notice. */
export function notify(approval: Approval, open: () => void): void {
  try {
    const notice = new Notification(questionText(approval), {
      body: `${approval.agentName}: ${stepText(approval)}`,
      tag: `approval ${approval.id}`,
    });
    notice.onclick = () => {
      window.focus();
      notice.close();
      open();
    };
  } catch {
    // Browsers of telephones have notices of service workers only.
  }
}
