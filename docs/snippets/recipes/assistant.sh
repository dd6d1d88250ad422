cat node_modules/tunerank/dist/llms.txt
cat node_modules/tunerank/dist/docs/recipes/scale-to-zero.md
