import { defineCommand } from '../command.js';

const SCRIPTS = {
  bash: `_control_enforcement() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(control-enforcement --complete "\${COMP_WORDS[@]:1:COMP_CWORD}")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _control_enforcement control-enforcement
`,
  zsh: `#compdef control-enforcement
_control_enforcement() {
  local -a found
  found=("\${(@f)$(control-enforcement --complete "\${(@)words[2,CURRENT]}")}")
  compadd -a found || _files
}
compdef _control_enforcement control-enforcement
`,
};

export const command = defineCommand({
  examples: [
    {
      line: 'control-enforcement completion bash',
      does: 'Print a script: source <(control-enforcement completion bash)',
    },
  ],
  positionals: { shell: { choices: ['bash', 'zsh'], demandOption: true, describe: 'The shell' } },
  async run(context, { shell }) {
    await context.stdout.write(SCRIPTS[shell]);
    return 0;
  },
});
