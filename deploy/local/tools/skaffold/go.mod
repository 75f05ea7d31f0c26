module denrei.dev/tools/skaffold

go 1.26.0

require github.com/GoogleContainerTools/skaffold/v2 v2.16.1
