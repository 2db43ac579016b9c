import { describe, expect, it } from 'vitest';
import { FULL_CALL } from '../../../../test/support/check-call.js';
import type { JsonObject, JsonValue } from '../../../exact-json/src/index.js';
import { shellConfig } from '../../src/shell/config.js';
import { shellEvaluator } from '../../src/shell/shell.js';

/** The findings in a text: kind, what is at the place, and the score if it is not 1. */
function found(config: JsonObject, text: string): string[] {
  return findings(config, text).map(({ kind, start, end, score }) => {
    const certainty = score === 1 ? '' : ` (${score})`;
    return `${kind}: ${text.slice(start, end)}${certainty}`;
  });
}

interface Listed {
  readonly kind: string;
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly score: number;
}

function findings(config: JsonObject, data: JsonValue): Listed[] {
  const result = shellEvaluator.compile(config).evaluate(data, FULL_CALL);
  if (!('matched' in result)) throw new Error('the check does not answer at once');
  return (result.metadata?.findings ?? []) as unknown as Listed[];
}

const NO_RM = { deny_programs: ['rm'] };

describe('deny_programs', () => {
  it.each([
    ['rm x', 'rm'],
    ['/bin/rm x', '/bin/rm'],
    ['r\\m x', 'r\\m'],
    ["'r'm x", "'r'm"],
    ["$'\\x72m' x", "$'\\x72m'"],
    ['A=1 rm x', 'rm'],
    ['> log rm x', 'rm'],
    ['ls && rm x', 'rm'],
    ['if a; then rm x; fi', 'rm'],
    ['case a in b) rm x;; esac', 'rm'],
    ['f() { rm x; }', 'rm'],
    ['echo "$(rm x)"', 'rm'],
    ['echo `rm x`', 'rm'],
    ['cat <(rm x)', 'rm'],
    ['A=$(rm x)', 'rm'],
    ['echo ${x:-$(rm x)}', 'rm'],
    ['echo $(( $(rm x) ))', 'rm'],
    ['[[ $(rm x) ]]', 'rm'],
    ['cat <<E\n$(rm x)\nE', 'rm'],
    ['echo # it\nrm x', 'rm'],
  ])('finds the program in %j', (text, program) => {
    expect(found(NO_RM, text)).toEqual([`program_denied: ${program}`]);
  });

  it.each([
    'sudo -u root rm x',
    'sudo -nu root -- rm x',
    'env -i A=b rm x',
    'nohup rm x',
    'nice -n 5 rm x',
    'time -p rm x',
    'timeout -s KILL 5 rm x',
    'find . -name a -exec rm {} +',
    'ls | xargs -n 1 rm',
    "bash -c 'rm x'",
    "bash -o pipefail -lc 'rm x'",
    'bash -c "bash -c \'rm x\'"',
    'bash <<E\nrm x\nE',
    "sh <<< 'rm x'",
    "echo 'rm x' | sh",
    "eval 'rm x'",
    'exec -a name rm x',
    'command -p rm x',
    'builtin rm x',
    'busybox rm x',
    "trap 'rm x' EXIT",
    "ssh -p 22 host 'rm x'",
    "su - user -c 'rm x'",
    "flock lock -c 'rm x'",
  ])('finds the program that another runs: %j', (text) => {
    const places = findings(NO_RM, text).map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`);
    expect(places).toContain('program_denied rm');
  });

  it('points at the whole text where escapes make places differ', () => {
    expect(found(NO_RM, 'bash -c "r\\\\m x"')).toEqual(['program_denied: "r\\\\m x"']);
    expect(found(NO_RM, 'echo `echo \\`rm x\\``')).toEqual(['program_denied: `echo \\`rm x\\``']);
  });

  it.each([
    'echo rm x',
    "echo 'rm x'",
    'echo "a; rm x"',
    'git rm x',
    '# rm x',
    "cat <<'E'\n$(rm x)\nE",
    'cat <<E\nrm x\nE',
    'command -v rm',
    'rmdir x',
    'case rm in rm) ls;; esac',
    '((rm++)); ((rm = 1 + (rm * 2)))',
    '[[ -f rm && ! ( $x == rm* || x < rm ) ]] || ls',
    '[[ $x =~ ^(a|b c)+$ ]]',
    'for rm in a; do ls; done',
    '',
    '\n \t\n',
  ])('finds nothing in %j', (text) => {
    expect(found(NO_RM, text)).toEqual([]);
  });

  it('names a program by its path, too', () => {
    expect(found({ deny_programs: ['/opt/rm'] }, 'rm; /opt/rm')).toEqual(['program_denied: /opt/rm']);
  });

  it.each([
    '$X a',
    '"$(echo rm)" a',
    '/bin/r? a',
    '{rm,a}',
    'r${x}m',
    'ls | sh',
    'bash < file.sh <(ls)',
    'sudo --odd rm',
  ])('says that the program of %j cannot be told', (text) => {
    const kinds = findings(NO_RM, text).map(({ kind, score }) => `${kind} ${score}`);
    expect(kinds).toContain('unknown_program 0.6');
  });

  it('looks behind a variable that may be empty', () => {
    expect(found(NO_RM, '$SUDO rm x')).toEqual(['unknown_program: $SUDO (0.6)', 'program_denied: rm']);
  });
});

describe('allow_programs', () => {
  const ONLY = { allow_programs: ['git', 'ls', '/opt/tool', 'bash', 'env'] };

  it.each([
    'git status | ls',
    '/usr/bin/git log',
    '/opt/tool x',
    'A=1 git x > f',
    "bash -c 'git status'",
    'env A=1 ls',
  ])('finds nothing in %j', (text) => {
    expect(found(ONLY, text)).toEqual([]);
  });

  it.each([
    ['curl x', 'program_not_allowed: curl'],
    ['./git', 'program_not_allowed: ./git'],
    ['/tmp/git x', 'program_not_allowed: /tmp/git'],
    ['tool', 'program_not_allowed: tool'],
    ['git $(curl x)', 'program_not_allowed: curl'],
    ["bash -c 'curl x'", 'program_not_allowed: curl'],
    ['$X', 'unknown_program: $X'],
    ['PATH=/tmp git', 'unknown_program: PATH=/tmp'],
    ['env LD_PRELOAD=x git', 'unknown_program: LD_PRELOAD=x'],
    ['git "', 'unreadable: "'],
    ['ls | bash', 'unknown_program: bash'],
  ])('finds what is not listed, or uncertain, in %j', (text, finding) => {
    expect(found(ONLY, text)).toEqual([finding]);
  });
});

describe('deny', () => {
  const deny = (call: JsonObject): JsonObject => ({ deny: [call] });
  const WIPE = deny({ program: 'rm', flags: ['-r', '-f'], arguments: ['/', '/*'] });

  it.each([
    'rm -rf /',
    'rm -fr /*',
    'rm -r -f /',
    'rm --recursive --force /',
    'rm / -Rf',
    'rm -vrf //',
    'rm --rec --fo /./',
    'rm -rf a /',
  ])('knows the spellings of flags and arguments: %j', (text) => {
    expect(found(WIPE, text)).toEqual([`call_denied: ${text}`]);
  });

  it.each(['rm -r /', 'rm -f /', 'rm -rf a', 'rm -r -- -f /', 'rm /', 'ls -rf /', 'rm -rf "$X/a"'])(
    'finds nothing in %j',
    (text) => {
      expect(found(WIPE, text)).toEqual([]);
    },
  );

  it('is less certain where only the run tells the arguments or the flags', () => {
    expect(findings(WIPE, 'rm -rf "$X"').map(({ score }) => score)).toEqual([0.6]);
    expect(findings({ ...WIPE, threshold: 0.3 }, 'rm $X /').map(({ score }) => score)).toEqual([0.4]);
    expect(findings(WIPE, 'ls | xargs rm -rf').map(({ score }) => score)).toEqual([0.6]);
  });

  it('knows flags as words, and calls without flags', () => {
    expect(found(deny({ program: 'find', flags: ['-delete'] }), 'find . -delete')).toEqual([
      'call_denied: find . -delete',
    ]);
    const push = deny({ program: 'git', arguments: ['push'], flags: ['--force'] });
    expect(found(push, 'git push -f origin')).toEqual(['call_denied: git push -f origin']);
    expect(found(push, 'git push origin')).toEqual([]);
  });
});

describe('forbid', () => {
  it.each([
    ['substitution', 'echo $(ls)', '$(ls)'],
    ['substitution', 'echo `ls`', '`ls`'],
    ['substitution', 'cat <(ls)', '<(ls)'],
    ['pipe_to_shell', 'cat a | sh', 'sh'],
    ['pipe_to_shell', 'cat a | (cd b && bash)', 'bash'],
    ['pipe_to_shell', 'cat a | python3 -', 'python3 -'],
    ['eval', 'eval "$x"', 'eval'],
    ['download_and_run', 'curl x | sh', 'curl x | sh'],
    ['download_and_run', 'sh -c "$(wget -qO- x)"', 'sh -c "$(wget -qO- x)"'],
    ['download_and_run', '. <(curl x)', '. <(curl x)'],
    ['download_and_run', 'curl -o /tmp/a x; sh /tmp/a', 'sh /tmp/a'],
    ['download_and_run', 'wget x/a.sh && ./a.sh', './a.sh'],
    ['sudo', 'sudo ls', 'sudo'],
    ['sudo', 'env doas ls', 'doas'],
    ['redirect_outside', 'ls > /etc/a', '/etc/a'],
    ['redirect_outside', 'ls >> ~/a', '~/a'],
    ['redirect_outside', 'ls 2> a/../../b', 'a/../../b'],
    ['redirect_outside', 'ls | tee /etc/a', '/etc/a'],
    ['redirect_outside', '{ ls; } > ../a', '../a'],
    ['write_device', 'ls > /dev/sda', '/dev/sda'],
    ['write_device', 'dd if=a of=/dev/nvme0n1', 'of=/dev/nvme0n1'],
    ['write_device', 'mkfs.ext4 /dev/sda1', '/dev/sda1'],
    ['background', 'ls & pwd', 'ls &'],
    ['fork_bomb', ':(){ :|:& };:', ':(){ :|:& }'],
    ['unknown_program', '$X a', '$X'],
  ])('finds %s in %j', (kind, text, place) => {
    expect(found({ forbid: [kind] }, text)).toEqual([`${kind}: ${place}`]);
  });

  it.each([
    ['substitution', 'echo \'$(ls)\' "\\$(ls)" ${x}'],
    ['pipe_to_shell', 'sh a | cat; curl x | python3 -m json.tool'],
    ['download_and_run', 'curl x > a; cat a; sh b'],
    ['redirect_outside', 'ls > a 2>&1 < /etc/b; ls > /dev/null >& 2'],
    ['write_device', 'dd if=/dev/sda of=a; cp /dev/sda a'],
    ['background', 'ls && pwd; echo "&"'],
    ['fork_bomb', 'f() { f; }; g() { ls | cat & }'],
    ['unknown_program', '[ -f a ] && ls $X'],
  ])('does not find %s in %j', (kind, text) => {
    expect(found({ forbid: [kind] }, text)).toEqual([]);
  });

  it('finds no program that cannot be told unless that matters', () => {
    expect(found({ forbid: ['sudo'] }, '$X a')).toEqual([]);
  });
});

describe('texts that cannot be read', () => {
  it.each([
    "echo 'a",
    'echo "a',
    'echo $(a',
    'if a; then b',
    'a | | b',
    'a;;',
    'fi',
    '((rm -rf /etc))',
    '[[ a || rm -rf / ]]',
    '(a',
    'a)',
    'echo `a',
    'cat <<',
    'a\0b',
    `${'( '.repeat(200)}a${' )'.repeat(200)}`,
  ])('are findings: %j', (text) => {
    expect(findings(NO_RM, text).map(({ kind, score }) => `${kind} ${score}`)).toEqual(['unreadable 0.6']);
  });

  it('have what was found before as well', () => {
    expect(found(NO_RM, "rm x; echo 'a")).toEqual(['program_denied: rm', "unreadable: ' (0.6)"]);
  });

  it('includes texts of shells in one another without end', () => {
    const deep = Array.from({ length: 12 }).reduce<string>(
      (inner) => `eval ${inner.replaceAll(/([\\'])/g, '\\$1')}`,
      'rm x',
    );
    expect(findings(NO_RM, deep).length).toBeGreaterThan(0);
  });
});

describe('data', () => {
  it('are read text by text', () => {
    const listed = findings(NO_RM, { cmd: ['ls', 'rm x'] });
    expect(listed.map(({ kind, path, start, end }) => ({ kind, path, start, end }))).toEqual([
      { kind: 'program_denied', path: '/cmd/1', start: 0, end: 2 },
    ]);
  });

  it('report work in proportion to their length, nested texts included', () => {
    const spentFor = (text: string): number => {
      let spent = 0;
      shellEvaluator.compile(NO_RM).evaluate(text, { ...FULL_CALL, spend: (steps) => (spent += steps) });
      return spent;
    };
    const parts = ['ls; ', 'eval ', '$(a) ', 'a | sh;', 'echo a | sh | ', "'", 'sudo ', '<<A;'];
    parts.push(
      'env -S ',
      'npx a@1 ',
      'npx -c ',
      '{a,b} ',
      'foo rm ',
      "x='$(a)';",
      "trap 'a b' c;",
      'find -exec ',
    );
    for (const part of parts) {
      const [small, large] = [spentFor(part.repeat(1_000)), spentFor(part.repeat(4_000))];
      expect(large).toBeLessThanOrEqual(small * 4.1);
    }
  });
});

describe('the configuration', () => {
  it.each([
    [{}, [], /at least one of/],
    [{ deny_programs: [] }, ['deny_programs'], /at least 1/],
    [{ deny_programs: ['rm x'] }, ['deny_programs', 0], /must match/],
    [{ deny_programs: [1] }, ['deny_programs', 0], /string/],
    [{ forbid: ['sudoo'] }, ['forbid', 0], /did you mean sudo\?; known: substitution/],
    [{ deny: [{ program: 'rm', flags: ['r'] }] }, ['deny', 0, 'flags', 0], /must have at least|must match/],
    [{ deny: [{ flags: ['-r'] }] }, ['deny', 0, 'program'], /required/i],
    [{ forbid: ['sudo'], threshold: 0 }, ['threshold'], /above 0/],
  ])('of %j is refused with a path and a reason', (config, at, message) => {
    const read = shellConfig.safeParse(config);
    expect(read.error?.issues[0]?.path).toEqual(at);
    expect(read.error?.issues[0]?.message).toMatch(message);
  });
});
