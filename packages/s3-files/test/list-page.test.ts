import { describe, expect, it } from 'vitest';
import { readListPage } from '../src/list-page.js';

const NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
const pageOf = (inside: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult ${NAMESPACE}>${inside}</ListBucketResult>`;

describe('a page of a list', () => {
  it('is read as S3 writes it', () => {
    const page = pageOf(`
      <Name>bucket</Name><Prefix>some+path/</Prefix><KeyCount>2</KeyCount>
      <NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=</NextContinuationToken>
      <IsTruncated>true</IsTruncated>
      <Contents><Key>some+path/a%26b.json</Key><ETag>&quot;70ee1738b6b21e2c8a43f3a5ab0eee71&quot;</ETag>
        <Owner><DisplayName>Key</DisplayName></Owner></Contents>
      <Contents><ChecksumAlgorithm>CRC64NVME</ChecksumAlgorithm><Key>some%20path/%C3%BC%2B1.json</Key></Contents>
      <CommonPrefixes><Prefix>other/</Prefix></CommonPrefixes>`);
    expect(readListPage(page)).toEqual({
      keys: ['some path/a&b.json', 'some path/ü+1.json'],
      nextToken: '1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=',
    });
  });

  it('has texts without escapes of XML', () => {
    const key = '<Contents><Key>&#97;&amp;b&lt;<![CDATA[<c>]]></Key></Contents>';
    const token = '<NextContinuationToken>one&amp;two</NextContinuationToken>';
    const page = pageOf(`<IsTruncated>true</IsTruncated>${token}${key}`);
    expect(readListPage(page)).toEqual({ keys: ['a&b<<c>'], nextToken: 'one&two' });
  });

  it('is the last one when it says so, or names no other', () => {
    const token = '<NextContinuationToken>next</NextContinuationToken>';
    expect(readListPage(pageOf(`<IsTruncated>false</IsTruncated>${token}`)).nextToken).toBeNull();
    expect(readListPage(pageOf('<IsTruncated>true</IsTruncated>'))).toEqual({ keys: [], nextToken: null });
  });

  it.each([
    ['text', 'welcome'],
    ['a page of a portal', '<html><body>sign in</body></html>'],
    ['half of a list', pageOf('<Contents><Key>a</Key></Contents>').slice(0, -10)],
    ['a list with entities of its own', `<!DOCTYPE x [<!ENTITY a "b">]>${pageOf('<Name>&a;</Name>')}`],
  ])('is never read from %s', (_, text) => {
    expect(() => readListPage(text)).toThrow();
  });
});
