# CrowdNotes: the app, and with another command its workers. See docs/running.md.
FROM python:3.11-slim-trixie

# PyTorch's own index of builds for the processor; the usual build brings gigabytes for graphics cards.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
# Of the server's version or newer, for `crowdnotes backup`.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends postgresql-client \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 crowdnotes \
 && install --directory --owner=crowdnotes /data

WORKDIR /app
COPY requirements.txt constraints.txt ./
RUN pip install --no-cache-dir --no-deps ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} torch==2.13.0 \
 && pip install --no-cache-dir -r requirements.txt
COPY pyproject.toml app.py ./
COPY crowdnotes crowdnotes
COPY pages pages
COPY assets assets
COPY docs docs
COPY .streamlit .streamlit
RUN pip install --no-cache-dir --no-deps --editable .

ENV CROWDNOTES_DATA_DIR=/data PYTHONUNBUFFERED=1
VOLUME /data
USER crowdnotes
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=10s --start-period=120s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/readyz', timeout=9)"]
# Elsewhere than on this machine it starts only where people sign in, or as a demo.
CMD ["streamlit", "run", "app.py", "--server.address=0.0.0.0", "--server.port=8501"]
