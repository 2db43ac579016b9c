/**
 * Builtins of bash and POSIX shells that run texts, or take names of variables, whose subscripts are evaluated: see
 * `readGrammar` for the rows. Options that are not listed are outside what is understood.
 */
export const BUILTIN_ROWS = `
trap: [lpP] :: text builtin
eval: :: sh builtin
alias: [p] :: texts builtin
hash: [rlt] p$ d= :: lax builtin
complete|compgen: [pr] C$ W% F% [AoGXPS]= :: lax builtin
bind: x$ f~ [lpsPSvVX] [mqru]= :: lax builtin
mapfile|readarray: [t] [dnOsuc]= C$ :: names builtin
fc: [lnrs] e$ :: lax builtin
history: [cdanrwp]? s> :: lax builtin
read: [ersE] [dinNptu]= a& :: names builtin
printf: v& :: lax builtin
wait: [fn] p& :: lax builtin
unset: [fv] :: names builtin
getopts: :: 1 names builtin
export|readonly: [fpn] :: names builtin
declare|typeset|local: [xrgpfFtlu] :: names builtin
set: [euxfvnCbhamETBP] o@ :: builtin
shopt: [supqo] :: settings builtin
cd|pushd|popd|umask|ulimit|exit|return|shift|type|jobs|fg|bg|kill|disown|times|true|false|pwd|dirs|break|continue|echo: :: lax builtin
`;
