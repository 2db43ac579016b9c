import fc from 'fast-check';

/** Pieces that begin, end, escape and hide things in one dialect or another. */
const PIECES = [
  ...["'", "''", '"', '`', '[', ']', '$$', '$a$', '\\', "\\'", "E'", "N'", "q'[", "]'", ';', ';', ';'],
  ...['--', '-- ', '/*', '*/', '/*!', '#', '\n', '\r', '\n', ' ', ' ', '\t', '\f', '\u00a0', '\0'],
  ...[
    'SELECT 1',
    'SELECT 1',
    "SELECT 'a'",
    'SELECT * FROM users',
    'AS "x"',
    'FROM users',
    'WITH x AS (',
    ')',
    '(',
  ],
  // What a driver reads as a placeholder, and a database perhaps not.
  ...['?', ':a', '@p', '%s', '%(a)s', '#{a}', '#{', '}', '$n', '= ', ' IN '],
  ...['DROP TABLE users', 'DROP TABLE users', ';DROP TABLE users;', 'DR', 'OP TABLE users'],
];

/** SELECT and DROP, with whatever could make one of them look like something else. */
export const hostileQuery = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 12 }).map((parts) => parts.join('')),
  // A text that has a real chance to run: something closed, a DROP, and something that opens.
  fc
    .tuple(
      fc.constantFrom(
        '',
        'SELECT 1',
        "SELECT 'a'",
        'SELECT 1 AS "x"',
        "SELECT '\\'",
        '/* a */',
        '/* /* */',
        '--\r',
        '-- x\n',
      ),
      fc.constantFrom(';', ' ;', '; ', ';/**/', ";--'\n", ";/*'*/", '\n;\r', ' '),
      fc.constantFrom(
        'DROP TABLE users',
        "SELECT 'DROP TABLE users'",
        'drop/**/table/* ; */users',
        'SELECT 2',
      ),
      fc.constantFrom('', ';', " --'", " /* ' */", "; SELECT ''", ' */', " '", '\0', ';;;'),
    )
    .map((parts) => parts.join('')),
);
