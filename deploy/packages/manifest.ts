/** The `package.json` of a published package, from that of its folder in the repository. */

/** The fields of a `package.json` that packages here have. */
export interface PackageManifest {
  readonly name: string;
  readonly version: string;
  /** Absent in packages that have only programs. */
  readonly exports?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  /** Of the repository: the folders of its packages. */
  readonly workspaces?: readonly string[];
  readonly [field: string]: unknown;
}

/** A published module: its declarations, and its code. */
export interface CompiledModule {
  readonly types: string;
  readonly default: string;
}

/** What a release knows about a package. */
export interface Publication {
  /** The package's folder in the repository. */
  readonly folder: string;
  readonly version: string;
  /** Dependencies that are published within the package. */
  readonly bundled: readonly string[];
  /** The URL of the repository. */
  readonly repository?: string | undefined;
}

/**
 * Points exports to compiled files, and removes dependencies that are bundled or needed only for development. All packages of a
 * release need each other in exactly this version.
 */
export function publishedManifest(
  { devDependencies: _, ...manifest }: PackageManifest,
  { folder, version, bundled, repository }: Publication,
) {
  const dependencies = Object.entries(manifest.dependencies ?? {}).filter(
    ([name]) => !bundled.includes(name),
  );
  return {
    ...manifest,
    version,
    ...(manifest.exports && {
      exports: Object.fromEntries(
        Object.entries(manifest.exports).map(([name, path]) => [name, compiled(name, path)]),
      ),
    }),
    dependencies: Object.fromEntries(dependencies),
    ...(repository !== undefined && {
      repository: { type: "git", url: `git+${repository}.git`, directory: folder },
      homepage: `${repository}#readme`,
      bugs: `${repository}/issues`,
    }),
    publishConfig: { access: "public", provenance: true },
  };
}

function compiled(name: string, path: string): string | CompiledModule {
  if (!path.endsWith(".ts")) return path;
  const base = path.slice(0, -".ts".length);
  if (name.endsWith(".js")) return `${base}.js`;
  return { types: `${base}.d.ts`, default: `${base}.js` };
}
