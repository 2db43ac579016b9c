import type { RestClient } from '../support/http.js';
import type { History } from './concurrent-history.js';

/** Every control has a history without gaps, of as many versions as changes were acknowledged. */
export async function checkVersions(call: RestClient, history: History): Promise<string[]> {
  const problems: string[] = [];
  for (const id of history.controlIds()) {
    const changes = history.operations.filter(({ target, status }) => target === id && status === 200);
    const count = (start: string) => changes.filter(({ what }) => what.startsWith(start)).length;
    // Each definition was another one; a name or state may have been the same as before, which needs no version.
    const least = 1 + count('PUT /controls/') + count('DELETE /controls/');
    const most = least + count('PATCH /controls/');
    const versions = await readVersions(call, id);
    const numbers = versions.map(({ version_num: number }) => number);
    if (numbers.join() !== versions.map((_version, index) => versions.length - index).join()) {
      problems.push(`control ${id} has the versions ${numbers}`);
    }
    if (versions.length < least || versions.length > most) {
      problems.push(`control ${id} has ${versions.length} versions; expected ${least} to ${most}`);
    }
    const events = versions.map(({ event_type: event }) => event).reverse();
    if (events.indexOf('created') !== 0 || events.lastIndexOf('created') !== 0) {
      problems.push(`control ${id} was not created once, at first: ${events}`);
    }
    const deleted = count('DELETE /controls/') > 0 ? events.length - 1 : -1;
    if (events.indexOf('deleted') !== deleted) {
      problems.push(`control ${id} was not deleted at last and only when asked: ${events}`);
    }
  }
  return problems;
}

interface Version {
  readonly version_num: number;
  readonly event_type: string;
}

async function readVersions(call: RestClient, id: number): Promise<Version[]> {
  const versions: Version[] = [];
  let cursor = '';
  do {
    const { status, body } = await call('GET', `/api/v1/controls/${id}/versions?limit=100${cursor}`);
    if (status === 404) return [];
    if (status !== 200) throw new Error(`the versions of control ${id}: ${status} ${JSON.stringify(body)}`);
    versions.push(...body.versions);
    cursor = body.pagination.has_more ? `&cursor=${body.pagination.next_cursor}` : '';
  } while (cursor !== '');
  return versions;
}
