/** Generates TypeScript from .proto files with the installed buf and plugin. Downloads nothing. */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

/** Folders of .proto files: `c` for v0.57.0, `l0` for v0.9.0. */
const versions = ["c", "l0"];

/** Where .proto files are and where their TypeScript goes; both have a folder for each version. */
interface ProtoSource {
  readonly protos: string;
  readonly generated: string;
}

const api: ProtoSource = {
  protos: "functions/pipecd/api/proto",
  generated: "functions/pipecd/api/generated",
};

/** RPCs that only pipeds call, so only tests need them. They import messages from {@link api}. */
const pipeds: ProtoSource = {
  protos: "deploy/simulators/pipecd/proto",
  generated: "deploy/simulators/pipecd/generated",
};

/** Folders that hold TypeScript generated from .proto files. */
export const protoFolders = [api, pipeds].flatMap(({ generated }) =>
  versions.map((one) => `${generated}/${one}`),
);

/** A generated file without a header; `origin` is the path of its .proto file. */
export interface GeneratedProto {
  readonly path: string;
  readonly origin: string;
  readonly text: string;
}

/** Generates TypeScript from the .proto files below `root`. */
export async function generatedProtos(root: string): Promise<GeneratedProto[]> {
  const out = await mkdtemp(join(tmpdir(), "denrei-generate-"));
  try {
    await Promise.all([generate(root, out, api), generate(root, out, pipeds)]);
    const files = await readdir(out, { recursive: true, withFileTypes: true });
    const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
    return await Promise.all(
      paths.sort().map(async (file) => {
        const path = file.slice(out.length + 1).replaceAll("\\", "/");
        return { path, origin: originOf(path), text: await readFile(file, "utf8") };
      }),
    );
  } finally {
    await rm(out, { recursive: true });
  }
}

async function generate(root: string, out: string, source: ProtoSource): Promise<void> {
  const options = ["target=ts", "import_extension=ts", "erasable_syntax=true"];
  // Import the messages of `api` from its package instead of generating them again.
  if (source !== api) options.push(`rewrite_imports=./*/model_pb.js:@denrei/${api.generated}`);
  const config = { version: "v2", modules: [api, pipeds].map(({ protos }) => ({ path: protos })) };
  const plugin = join(root, "node_modules", "@bufbuild", "protoc-gen-es", "bin", "protoc-gen-es");
  const template = {
    version: "v2",
    plugins: [{ local: [process.execPath, plugin], out: join(out, source.generated), opt: options }],
  };
  const args = ["--config", JSON.stringify(config), "--template", JSON.stringify(template)];
  const buf = join(root, "node_modules", ".bin", "buf");
  const paths = versions.flatMap((one) => ["--path", `${source.protos}/${one}`]);
  await promisify(execFile)(buf, ["generate", ".", ...args, ...paths], {
    cwd: root,
    // buf may be a binary, or a script that needs node in PATH.
    env: { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) },
  });
}

const originOf = (path: string): string =>
  path.replace("/generated/", "/proto/").replace(/_pb\.ts$/, ".proto");
