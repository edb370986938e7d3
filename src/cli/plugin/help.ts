/** What `dsh plugin --help` prints. */
export const PLUGIN_HELP = `Usage: dsh plugin --profile NAME add SPEC...
       dsh plugin --profile NAME remove PACKAGE...
       dsh plugin --profile NAME list

Manages the plugins of a profile: npm packages in $DSH_HOME/profiles/NAME, and the rows
of its patch.yml that name them. A plugin runs with all rights of the runtime.

add SPEC...             install with npm, and insert a row for each package; SPEC is what
                        npm install takes: a name, name@version, ./directory, a tarball
remove PACKAGE...       take out the rows, and uninstall
list                    what is installed, and the row that loads it

A profile that does not exist is made by add, and extends sdk. Exits as npm does; 127
when there is no npm on PATH.
`;
