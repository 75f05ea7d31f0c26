/** The packages of a release, and the files of each besides compiled modules. */

/** A package. */
export interface Package {
  /** Its folder in the repository. */
  readonly folder: string;
  /** Patterns of files that are published unchanged. */
  readonly files: readonly string[];
  /** Folders and files within it that belong to another package or only to the repository. */
  readonly without: readonly string[];
  /** Dependencies that are published within the package, because most of what they depend on is not used. */
  readonly bundled: readonly string[];
  /** Limit of the unpacked size, in MB: about a third more than it has. */
  readonly megabytes: number;
}

/** All packages, in the order in which they depend on each other. */
export const packages: readonly Package[] = [
  {
    folder: "bus",
    files: ["command/denrei.js", "command/init/template/**/*.template", "tsconfig.project.json"],
    without: ["create"],
    bundled: ["@octokit/request", "cloudevents"],
    megabytes: 5,
  },
  { folder: "bus/create", files: ["create.js"], without: [], bundled: [], megabytes: 0.05 },
  {
    folder: "functions",
    // `denrei chart print` prints the source of the built-in chart.
    files: ["**/*.yaml", "paas/charts/default/chart.ts"],
    without: ["pipecd/api/proto"],
    bundled: [],
    megabytes: 4,
  },
  { folder: "dashboard", files: ["web/dist/**"], without: ["web"], bundled: [], megabytes: 1.8 },
  {
    folder: "deploy",
    files: [
      "cli/*/templates/**",
      "kubernetes/**",
      "monitoring/{dashboard.json,operator.yaml,rules.yaml}",
      "local/binaries/checksums.json",
      "local/parts/stages.yaml",
      "local/run/lifeline.sh",
      "local/tools/**",
    ],
    without: ["packages", "simulators", "supplychain", "local/fixtures"],
    bundled: [],
    megabytes: 3.8,
  },
  { folder: "deploy/simulators", files: [], without: ["pipecd/proto"], bundled: [], megabytes: 2 },
  { folder: "test/ket", files: ["keeper.sh"], without: [], bundled: [], megabytes: 0.5 },
];
