{
  "targets": [
    {
      "target_name": "countersign_kernels",
      "sources": ["src/addon.cc", "src/kernels.cc"],
      "cflags_cc": ["-std=c++17", "-O3", "-ffp-contract=off", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra"],
      "cflags_cc!": ["-std=gnu++17", "-std=gnu++20", "-O2"],
      "xcode_settings": {
        "CLANG_CXX_LANGUAGE_STANDARD": "c++17",
        "GCC_OPTIMIZATION_LEVEL": "3",
        "OTHER_CPLUSPLUSFLAGS": ["-ffp-contract=off"]
      },
      "msvs_settings": {
        "VCCLCompilerTool": { "AdditionalOptions": ["/std:c++17", "/O2", "/fp:precise"] }
      }
    }
  ]
}
