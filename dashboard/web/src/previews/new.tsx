import { NewObject } from "../ui/form/object.tsx";
import { pipelineForm } from "./form.tsx";

/** The screen that creates an AppPipeline. */
export const NewPipeline = () => <NewObject kind={pipelineForm} title="Preview a repository" />;
