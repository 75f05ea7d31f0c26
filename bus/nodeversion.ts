/**
 * Checks the version of Node. Every entry point imports this module first: modules are evaluated in the order of their imports, so an
 * older Node reports its version before another module fails for want of a newer feature.
 */

/** The oldest Node on which the code runs, as `engines` in package.json has it. */
const oldestVersion = 24;

if (Number(process.versions.node.split(".")[0]) < oldestVersion) {
  throw new Error(
    `denrei needs Node ${oldestVersion} or later, found v${process.versions.node}: install a newer one from https://nodejs.org, or select one with your version manager`,
  );
}

export {};
