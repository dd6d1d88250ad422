pip install openapi-python-client==0.29.1
openapi-python-client generate \
  --path openapi-client.json --output-path client
PYTHONPATH=client python rank.py
