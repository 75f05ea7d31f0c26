/** The TypeScript of the .proto files, by the buf and the plugin that are installed here: nothing is downloaded. */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

/** Folders of .proto files: v0.57.0, and v0.9.0. */
const versions = ["c", "l0"];

/** Where .proto files lie, in folders of a name for each version, and where what is made of them goes. */
interface ProtoSource {
  readonly protos: string;
  readonly generated: string;
}

const api: ProtoSource = {
  protos: "functions/pipecd/api/proto",
  generated: "functions/pipecd/api/generated",
};

/** What only pipeds call, and so only tests. It imports the messages of the others. */
const pipeds: ProtoSource = {
  protos: "deploy/simulators/pipecd/proto",
  generated: "deploy/simulators/pipecd/generated",
};

/** Folders that hold TypeScript generated from .proto files. */
export const protoFolders = [api, pipeds].flatMap(({ generated }) =>
  versions.map((one) => `${generated}/${one}`),
);

/** Contents by path, without a note of where they come from; the path of the .proto file is in `origin`. */
export interface GeneratedProto {
  readonly path: string;
  readonly origin: string;
  readonly text: string;
}

/** What the .proto files of a repository become. `root` is its folder. */
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
  // What is imported is not generated a second time.
  if (source !== api) options.push(`rewrite_imports=./*/model_pb.js:../../../../${api.generated}`);
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
    // It may be a program, or a script that asks for node.
    env: { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) },
  });
}

const originOf = (path: string): string =>
  path.replace("/generated/", "/proto/").replace(/_pb\.ts$/, ".proto");
